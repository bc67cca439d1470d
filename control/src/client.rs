//! The client side: finding a running instance and calling its methods, blocking.
