package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/envtest"
)

type installOptions struct{ envtest.Installation }

func (o *installOptions) run(c *cobra.Command, _ []string) (err error) {
	if o.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("set the directory with --dir: %w", err)
		}
		o.Dir = filepath.Join(cache, "troupe", "envtest")
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if o.Binary, err = os.Executable(); err != nil {
		return err
	}
	o.Log = c.ErrOrStderr()
	if err := envtest.Install(c.Context(), o.Installation); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), o.Dir)
	return nil
}
