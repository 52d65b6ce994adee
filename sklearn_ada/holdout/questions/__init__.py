"""Questions, one module for each mechanism that answers them. All but the answer is fixed beforehand."""
