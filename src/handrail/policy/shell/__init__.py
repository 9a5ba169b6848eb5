"""What a line of bash says: the argv lists it comes to, or why that cannot be proven."""
