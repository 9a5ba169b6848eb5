"""The box: what agents run can write, fork and connect only where the profile says."""
