//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/test/controlplane"
)

func main() {
	if tool := toolNamed(filepath.Base(os.Args[0])); tool != nil {
		if err := tool(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	controlplane.Main("commandline", run)
}

func run(ctx context.Context, dir string) error {
	builtIn := flag.Bool("built-in", false, "Run Troupe's own controllers in place of kube-controller-manager.")
	logFile := flag.String("log", "", "Write the whole output of the suite, with the logs of its processes, to this `file`.")
	flag.Parse()
	s, err := newSuite(dir, *builtIn)
	if err != nil {
		return err
	}
	selected, err := s.selectGroups(flag.Args())
	if err != nil {
		return err
	}
	log := io.Discard
	if *logFile != "" {
		f, err := os.Create(*logFile)
		if err != nil {
			return err
		}
		defer f.Close()
		log = f
	}
	r := newReport(os.Stdout, selected)
	output := io.MultiWriter(log, r)
	return r.finish(s.run(ctx, flag.Args(), output))
}
