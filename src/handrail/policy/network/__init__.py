"""Names and addresses of hosts, as words."""
