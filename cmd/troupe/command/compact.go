package command

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

type compactOptions struct{ Kubeconfig string }

func (o *compactOptions) run(c *cobra.Command, _ []string) error {
	r, err := loadDaemonClient(c, o.Kubeconfig)
	if err != nil {
		return err
	}
	body, err := r.do(c.Context(), http.MethodPost, daemon.CompactPath)
	if err != nil {
		return err
	}
	defer body.Close()
	var done daemon.Compaction
	if err := json.NewDecoder(body).Decode(&done); err != nil {
		return fmt.Errorf("%s%s: %w", r.Server(), daemon.CompactPath, err)
	}
	fmt.Fprintf(c.OutOrStdout(), "journal %s, was %s; snapshot %s, was %s\n",
		size(float64(done.JournalAfter)), size(float64(done.JournalBefore)), size(float64(done.SnapshotAfter)), size(float64(done.SnapshotBefore)))
	return nil
}
