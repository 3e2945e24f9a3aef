package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// platforms lists the platforms of a release, as documented.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func main() {
	var o options
	flag.StringVar(&o.version, "version", "", "Semantic `version` without v.")
	flag.StringVar(&o.out, "out", "", "Empty or missing `directory` for the files.")
	flag.StringVar(&o.key, "key", "", "PEM `file` with the key that signs the checksums.")
	flag.BoolVar(&o.reproduce, "reproduce", false, "Build the program of the first platform twice, and compare.")
	flag.Func("platforms", "Comma-separated `OS/ARCH` list; the default is all platforms.", func(s string) (err error) {
		o.platforms, err = parsePlatforms(s)
		return err
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func parsePlatforms(s string) (list []platform, err error) {
	for name := range strings.SplitSeq(s, ",") {
		var found *platform
		for i := range platforms {
			if platforms[i].String() == name {
				found = &platforms[i]
			}
		}
		if found == nil {
			return nil, fmt.Errorf("%q: must be one of %v", name, platforms)
		}
		list = append(list, *found)
	}
	return list, nil
}

func run(ctx context.Context, o options) error {
	root, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the checkout has changes; commit or stash them:\n%s", changes)
	}
	if o.out != "" {
		if o.out, err = filepath.Abs(o.out); err != nil {
			return err
		}
	}
	r, err := newRelease(ctx, root, "HEAD", o)
	if err != nil {
		return err
	}
	return errors.Join(r.write(ctx), r.close())
}
