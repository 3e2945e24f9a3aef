package main

import (
	"context"
	_ "embed" // of the table
	"errors"
	"flag"
	"io"
	"os"
	"regexp"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/controlplane"
)

func main() { controlplane.Main("kubernetes-minor", run) }

func run(ctx context.Context, dir string) error {
	record := flag.String("record", "", "Write the inventory of the release to this `file`.")
	all := flag.Bool("all", false, "Print implemented rows, too.")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: kubernetes-minor [-record FILE] [-all] VERSION, such as 1.38.0")
	}
	s, err := download(flag.Arg(0))
	if err != nil {
		return err
	}
	want, err := newRelease(s)
	if err != nil {
		return err
	}
	if *record != "" {
		text, err := want.text()
		if err != nil {
			return err
		}
		if err := os.WriteFile(*record, text, 0o644); err != nil {
			return err
		}
	}
	return check(ctx, os.Stdout, dir, want, *all)
}

//go:embed declined.txt
var declined []byte

// check compares a release with a server in the directory dir, and prints the checklist. It returns
// an error if a row is open.
func check(ctx context.Context, w io.Writer, dir string, want inventory, all bool) error {
	rules, err := readDeclined(declined)
	if err != nil {
		return err
	}
	for _, f := range daemon.UnsupportedFlags() {
		rules = append(rules, rule{regexp.MustCompile("^flags " + regexp.QuoteMeta(f.Name) + ": missing$"), f.Reason, true})
	}
	have, err := newTroupe(ctx, dir)
	if err != nil {
		return err
	}
	rows, err := newRows(want, have, rules)
	if err != nil {
		return err
	}
	return printChecklist(w, rows, all)
}
