package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/envtest"
)

const envtestHelp = `controller-runtime's package envtest starts kube-apiserver and etcd from the directory
KUBEBUILDER_ASSETS. This command creates such a directory, with this program in place of both: it
starts faster, collects garbage, and deletes the content of namespaces.

  export KUBEBUILDER_ASSETS=$(troupe envtest install)
  go test ./...

The path of the directory is printed to standard output, its content to standard error.

kubectl is a link to the one in PATH or of --kubectl, if any. --kubectl=build builds it with Go,
which takes a few minutes. Only suites that call it need it.`

func envtestCommand() *cobra.Command {
	c := &cobra.Command{Use: "envtest", Short: "Replace the binaries of controller-runtime's envtest", Args: cobra.NoArgs}
	c.AddCommand(envtestInstall())
	return c
}

func envtestInstall() *cobra.Command {
	i := envtest.Installation{}
	c := &cobra.Command{Use: "install", Short: "Create a directory for KUBEBUILDER_ASSETS", Long: envtestHelp, Args: cobra.NoArgs}
	c.Flags().StringVar(&i.Dir, "dir", "", "Directory to create (default troupe/envtest in the user's cache directory).")
	c.Flags().StringVar(&i.Kubectl, "kubectl", "", "kubectl to link to, build, or none (default the one in PATH).")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if i.Dir == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				return fmt.Errorf("set the directory with --dir: %w", err)
			}
			i.Dir = filepath.Join(cache, "troupe", "envtest")
		}
		if i.Dir, err = filepath.Abs(i.Dir); err != nil {
			return err
		}
		if i.Binary, err = os.Executable(); err != nil {
			return err
		}
		i.Log = c.ErrOrStderr()
		if err := envtest.Install(c.Context(), i); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), i.Dir)
		return nil
	}
	return c
}
