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

// toolNamed returns the tool of the suite's setup that this program is started as, or nil.
func toolNamed(name string) func(args []string) error {
	return map[string]func([]string) error{"make": makePrograms, "etcd": serveEtcd, "kube-controller-manager": serveManager}[name]
}

// makePrograms stands in for make, which builds the programs in the suite's own tree. They are there already. kubeadm's own tests,
// which it also runs, need no API server.
func makePrograms([]string) error { return nil }

// serveEtcd stands in for etcd: Troupe keeps its own state, and the suite only waits for a healthy server and writes one key.
func serveEtcd(args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	version := flags.Bool("version", false, "Print the version.")
	listen := flags.String("listen-client-urls", "", "URL to serve on.")
	for _, ignored := range []string{"advertise-client-urls", "data-dir", "log-level"} {
		flags.String(ignored, "", "Ignored.")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version {
		fmt.Println("etcd Version: 3.6.99")
		return nil
	}
	u, err := url.Parse(*listen)
	if err != nil {
		return err
	}
	return http.ListenAndServe(u.Host, healthy{})
}

// serveManager stands in for kube-controller-manager, whose health the suite waits for, where Troupe's own controllers run.
func serveManager([]string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:10257")
	if err != nil {
		return err
	}
	server := httptest.Server{Listener: listener, Config: &http.Server{Handler: healthy{}}}
	server.StartTLS() // with the certificate of httptest
	select {}         // until the suite kills it
}

// healthy answers every request with 200.
type healthy struct{}

func (healthy) ServeHTTP(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
