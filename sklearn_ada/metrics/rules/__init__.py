"""How the value of a metric becomes an interval, one module for each kind of metric."""
