package client

import "os"

// notifyResize does nothing, because Windows has no signal for resizes.
func notifyResize(chan<- os.Signal) {}
