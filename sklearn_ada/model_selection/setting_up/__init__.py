"""What `ReusableHoldoutCV` decides before anything is fitted: metric, mechanism, holdout."""
