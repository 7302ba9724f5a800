"""What DSPy is handed, what is changed inside it for that time, and what comes back."""
