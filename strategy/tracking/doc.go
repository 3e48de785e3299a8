package tracking
