package envtest

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/version"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

const etcdHelp = `This is troupe, standing in for etcd in tests of controllers: kube-apiserver beside it keeps its own state,
in memory, and asks no etcd. It answers health checks on its client URLs, and nothing else; all
flags of etcd are taken, and have no meaning but for the following.

Usage:
  etcd [flags]

Flags:
      --listen-client-urls string   URLs to answer health checks on, with commas (default "http://localhost:2379")
      --data-dir string             Directory that is removed if envtest has made it and has gone without removing it
      --unsafe-no-fsync             No meaning: nothing is written
      --version                     Print the version and exit
      --exit-with-parent            End soon after the process that has started this one (default true)
`

// Etcd returns a command that stands in for etcd.
func Etcd() *cobra.Command {
	c := &cobra.Command{Use: "etcd", Short: "Answer health checks", SilenceUsage: true, SilenceErrors: true, DisableFlagParsing: true}
	c.CompletionOptions.DisableDefaultCmd = true
	c.RunE = func(c *cobra.Command, args []string) error {
		flags, err := looseFlags(args)
		if err != nil {
			return err
		}
		if _, ok := flags["help"]; ok {
			fmt.Fprint(c.OutOrStdout(), etcdHelp)
			return nil
		}
		if _, ok := flags["version"]; ok {
			// Kubernetes scripts compare the third word of this output with the minimum etcd
			// version.
			fmt.Fprintf(c.OutOrStdout(), "etcd Version: %s\nTroupe Version: %s\n", version.Version, daemon.Version)
			return nil
		}
		log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
		if follow, ok := flags["exit-with-parent"]; !ok || follow != "false" {
			followParent(log, flags["data-dir"])
		}
		return serveHealth(flags["listen-client-urls"], c.OutOrStdout())
	}
	return c
}

// looseFlags parses arbitrary flags. A value follows "=" or is the next argument, unless that is
// itself a flag. As in etcd, flags start with one or two hyphens.
func looseFlags(args []string) (map[string]string, error) {
	flags := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		if !isFlag || name == "" {
			return nil, fmt.Errorf("%q is no flag", args[i])
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			value = args[i]
		}
		if name == "h" {
			name = "help"
		}
		flags[name] = value
	}
	return flags, nil
}

// serveHealth serves health checks at the URLs until a signal arrives.
func serveHealth(urls string, out io.Writer) error {
	if urls == "" {
		urls = "http://localhost:2379"
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	server := &http.Server{Handler: healthHandler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" {
			return fmt.Errorf("--listen-client-urls: %q is no URL with http, the only ones that this stand-in serves", text)
		}
		listener, err := net.Listen("tcp", u.Host)
		if err != nil {
			return err
		}
		go func() { ended <- server.Serve(listener) }()
	}
	fmt.Fprintln(out, "troupe stands in for etcd at", urls)
	select {
	case err := <-ended:
		return err
	case <-signals:
		return server.Close()
	}
}

// healthHandler serves etcd's health check and rejects all other requests.
func healthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"health":"true","reason":""}`) // a failed write means that the client is gone
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this is troupe, standing in for etcd: it answers health checks only, as its kube-apiserver keeps its own state", http.StatusNotImplemented)
	})
	return mux
}
