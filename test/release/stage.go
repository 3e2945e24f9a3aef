package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/command"
)

// staged is a directory with the content of a platform's archive.
type staged struct {
	platform platform
	dir      string
}

func (s staged) file(path string) string { return filepath.Join(s.dir, filepath.FromSlash(path)) }

// stage builds a platform's program and writes the other files of its archive next to it.
func (r *release) stage(ctx context.Context, p platform, n *notices) (s staged, err error) {
	s = staged{p, filepath.Join(r.work, "stage", p.os+"_"+p.arch)}
	for _, dir := range []string{"completions", "man/man1"} {
		if err := os.MkdirAll(s.file(dir), 0o755); err != nil {
			return s, err
		}
	}
	if err := r.build(ctx, r.source, p, s.file(p.program())); err != nil {
		return s, err
	}
	license, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return s, err
	}
	text, err := n.text(s.file(p.program()))
	if err != nil {
		return s, err
	}
	return s, errors.Join(
		os.WriteFile(s.file("LICENSE"), license, 0o644),
		os.WriteFile(s.file("THIRD_PARTY_NOTICES.txt"), text, 0o644),
		completions(s),
		r.manual(s.file("man/man1")),
	)
}

func completions(s staged) error {
	root := command.Root()
	return errors.Join(
		root.GenBashCompletionFileV2(s.file("completions/troupe.bash"), true),
		root.GenZshCompletionFile(s.file("completions/_troupe")),
		root.GenFishCompletionFile(s.file("completions/troupe.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(s.file("completions/troupe.ps1")),
	)
}

func (r *release) manual(dir string) error {
	root := command.Root()
	forManual(root)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &r.date, Source: "Troupe " + r.version, Manual: "Troupe"}, dir)
}

var (
	indented = regexp.MustCompile(`(?m)^  .*$`)
	special  = strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`)
)

// forManual prepares the help texts of a command and its subcommands for conversion from Markdown.
// Indented lines become code blocks, and angle brackets do not start tags.
func forManual(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Long = indented.ReplaceAllString(special.Replace(c.Long), "  $0")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = special.Replace(f.Usage) })
	for _, sub := range c.Commands() {
		forManual(sub)
	}
}
