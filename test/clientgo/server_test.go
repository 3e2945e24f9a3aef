package clientgo

import (
	"fmt"
	"io"
	"os"
	"testing"

	"k8s.io/klog/v2"

	"github.com/troupe-api/troupe/test/client"
)

// server serves all tests but those that kill.
var server *Server

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // of the clients
	var log client.Log
	var err error
	if server, err = Serve(&log, nil); err != nil {
		fmt.Fprintln(os.Stderr, err, log.String())
		return 1
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		fmt.Fprintln(os.Stderr, log.String())
	}
	return code
}
