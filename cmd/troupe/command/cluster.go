package command

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/localcluster"
)

type clusterOptions struct{ localcluster.Options }

func (o *clusterOptions) run(c *cobra.Command, _ []string) error {
	if err := o.Validate(); err != nil {
		return err
	}
	o.Out = c.OutOrStdout()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	return localcluster.Run(ctx, o.Options)
}
