package client

import "os"

// notifyResize does nothing, because Windows sends no signal when a terminal is resized.
func notifyResize(chan<- os.Signal) {}
