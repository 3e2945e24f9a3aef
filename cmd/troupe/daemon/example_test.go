package daemon_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// Example runs the server inside another program, with its own data directory and a free port.
func Example() {
	dir, err := os.MkdirTemp("", "troupe-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	config := daemon.Default()
	config.DataDir = dir
	config.Serving.SecurePort = 0 // any free port
	server, err := daemon.New(config, nil)
	if err != nil {
		panic(err)
	}
	if err := server.Start(); err != nil {
		panic(err)
	}

	client, err := administrator(dir)
	if err != nil {
		panic(err)
	}
	answer, err := client.Get(server.URL() + "/api/v1/namespaces/default")
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
	client.CloseIdleConnections()
	fmt.Println("the namespace default:", answer.Status)

	fmt.Println("stopped:", server.Stop(context.Background()))
	fmt.Println("ended:", server.Wait())
	// Output:
	// the namespace default: 200 OK
	// stopped: <nil>
	// ended: <nil>
}

// administrator returns an HTTP client that presents the administrator's certificate in dir. Client
// libraries can instead load Daemon.Kubeconfig.
func administrator(dir string) (*http.Client, error) {
	pki := filepath.Join(dir, "pki")
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{pair}},
	}}, nil
}
