package client

import "os"

// notifyResize sends nothing: Windows has no signal for a terminal whose size changes.
func notifyResize(chan<- os.Signal) {}
