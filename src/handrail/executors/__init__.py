"""The hands that touch the machine. They check the world at the moment of use."""
