//go:build unix

package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
)

// toolNamed returns the tool that this program acts as when started as name, or nil.
func toolNamed(name string) func(args []string) error {
	return map[string]func([]string) error{"make": makePrograms, "etcd": serveEtcd, "kube-controller-manager": serveManager}[name]
}

// makePrograms replaces make. It does nothing, because the programs exist and the kubeadm tests
// need no API server.
func makePrograms([]string) error { return nil }

// serveEtcd replaces etcd. The suite only waits until etcd is healthy and writes one key.
func serveEtcd(args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	version := flags.Bool("version", false, "Print the version.")
	listen := flags.String("listen-client-urls", "", "URL to serve on.")
	for _, ignored := range []string{"advertise-client-urls", "data-dir", "listen-peer-urls", "log-level"} {
		flags.String(ignored, "", "Ignored.")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version {
		fmt.Println("etcd Version: 3.99.0")
		return nil
	}
	u, err := url.Parse(*listen)
	if err != nil {
		return err
	}
	return http.ListenAndServe(u.Host, healthy{})
}

// serveManager replaces kube-controller-manager if --built-in is set. The suite only waits until it
// is healthy.
func serveManager([]string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:10257")
	if err != nil {
		return err
	}
	server := httptest.Server{Listener: listener, Config: &http.Server{Handler: healthy{}}}
	server.StartTLS() // uses the certificate of httptest
	select {}         // wait until the suite kills the process
}

type healthy struct{}

func (healthy) ServeHTTP(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
