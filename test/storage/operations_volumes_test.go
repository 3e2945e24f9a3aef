package storage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

const (
	persistentVolumes = "/api/v1/persistentvolumes"
	claims            = "/api/v1/namespaces/default/persistentvolumeclaims"
)

// pv returns a PersistentVolume as JSON. more contains additional spec fields, each after a comma.
func pv(name, capacity, modes, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"name":%q}},"spec":{"capacity":{"storage":%q},"accessModes":[%s],"hostPath":{"path":"/x"}%s}}`, name, name, capacity, modes, more)
}

func pvc(name, request, modes, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"resources":{"requests":{"storage":%q}},"accessModes":[%s]%s}}`, name, request, modes, more)
}

// eventually waits until the compact JSON of an object contains each of texts.
func (s standIn) eventually(path string, texts ...string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		a, err := s.Get(s.Ctx, path)
		for _, text := range texts {
			if err == nil && !strings.Contains(string(a.Body), text) {
				err = fmt.Errorf("no %s in %s", text, a)
			}
		}
		return err
	})
}

// TestVolumes replays transcripts about binding and releasing volumes and about finished Jobs.
func TestVolumes(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/volumes", nil, transcript.Options{})
}

// TestBindingSurvivesRestarts restarts the server while PersistentVolumeClaims are being bound. At
// the end, each claim must have its own volume.
func TestBindingSurvivesRestarts(t *testing.T) {
	t.Parallel()
	const n = 30
	dir, log := t.TempDir(), &client.Log{}
	s := serveStandIn(t, dir, log)
	for i := range n {
		s.Send(201, "POST", persistentVolumes, client.JSON, pv(fmt.Sprint("v", i), "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"m"`))
		s.Send(201, "POST", claims, client.JSON, pvc(fmt.Sprint("c", i), "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"m"`))
		if i%6 == 5 {
			s.awaitBound(i - 5 + 5*i%7)
			s.Stop(t)
			s = serveStandIn(t, dir, log)
		}
	}
	owners := map[string]string{}
	for i := range n {
		name := fmt.Sprint("c", i)
		s.eventually(claims+"/"+name, `"phase":"Bound"`)
		o := s.Send(200, "GET", claims+"/"+name, "", "").Object()
		spec, _ := o["spec"].(map[string]any)
		volume, _ := spec["volumeName"].(string)
		if other := owners[volume]; other != "" {
			t.Errorf("%s and %s have the volume %s", other, name, volume)
		}
		owners[volume] = name
		s.eventually(persistentVolumes+"/"+volume, `"phase":"Bound"`, `"uid":"`+o.UID()+`"`)
	}
}

func (s standIn) awaitBound(n int) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		list := s.Send(200, "GET", claims, "", "").String()
		if bound := strings.Count(list, `"phase":"Bound"`); bound < n {
			return fmt.Errorf("%d claims are bound, not %d", bound, n)
		}
		return nil
	})
}
