package client

import "os"

// notifyResize does nothing, because Windows sends no signal when the terminal is resized.
func notifyResize(chan<- os.Signal) {}
