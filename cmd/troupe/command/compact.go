package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/policy/remote"
)

type compactOptions struct{ Kubeconfig string }

func (o *compactOptions) run(c *cobra.Command, _ []string) error {
	r, err := loadDaemonClient(o.Kubeconfig)
	if err != nil {
		return err
	}
	body, err := r.do(c.Context(), http.MethodPost, daemon.CompactPath)
	if status := (*remote.StatusError)(nil); errors.As(err, &status) {
		switch status.Code {
		case http.StatusBadRequest:
			return fmt.Errorf("%w: its state is in etcd, which has its own compaction", err)
		case http.StatusInsufficientStorage:
			return fmt.Errorf("%w: the disk has no room for the snapshot", err)
		case http.StatusGatewayTimeout:
			return fmt.Errorf("%w: the compaction continues; troupe status shows the journal", err)
		}
	}
	if err != nil {
		return err
	}
	defer body.Close()
	var done daemon.Compaction
	if err := json.NewDecoder(body).Decode(&done); err != nil {
		return fmt.Errorf("%s%s: %w", r.URL(), daemon.CompactPath, err)
	}
	fmt.Fprintf(c.OutOrStdout(), "journal %s, was %s; snapshot %s, was %s\n",
		size(float64(done.JournalAfter)), size(float64(done.JournalBefore)), size(float64(done.SnapshotAfter)), size(float64(done.SnapshotBefore)))
	return nil
}
