package clients

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

var sharedServer = client.NewShared(func() (*Server, error) {
	var log client.Log
	s, err := Serve(&log, nil)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log.String())
	}
	client.AtEnd(s.Stop)
	return s, nil
})

func clientGoServer(t testing.TB) *Server {
	t.Helper()
	return sharedServer.Get(t)
}
