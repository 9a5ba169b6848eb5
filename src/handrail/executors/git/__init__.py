"""git that runs nothing but itself, keeps to its repository and asks for no more than it needs."""
