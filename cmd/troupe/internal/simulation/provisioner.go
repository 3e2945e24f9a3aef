package simulation

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

const provisionerName = "troupe/simulated"

const className = "simulated"

// A provisioner creates a volume for each claim that the volume controller assigns to it by
// annotation, and deletes released volumes. All state is in the API, and a volume's name contains
// the UID of its claim, so restarts and concurrent instances create no duplicates.
type provisioner struct {
	*Cluster
	queue *queue

	mu      sync.Mutex
	claims  map[objectKey]*claimView
	volumes map[objectKey]*volumeView // keys without a namespace
}

type claimView struct {
	Metadata Metadata
	Spec     struct {
		StorageClassName       *string
		AccessModes            json.RawMessage
		VolumeMode, VolumeName string
		Resources              struct {
			Requests json.RawMessage
		}
	}
}

type volumeView struct {
	Metadata Metadata
	Spec     struct {
		Policy string `json:"persistentVolumeReclaimPolicy"`
	}
	Status struct {
		Phase string
	}
}

type classView struct {
	Metadata      Metadata
	ReclaimPolicy string
	MountOptions  []string `json:"mountOptions,omitempty"`
}

func newProvisioner(c *Cluster) *provisioner {
	return &provisioner{Cluster: c, queue: newQueue(), claims: map[objectKey]*claimView{}, volumes: map[objectKey]*volumeView{}}
}

func (p *provisioner) run(ctx context.Context) {
	if err := retry(ctx, func() error { return p.makeClass(ctx) }); err != nil && ctx.Err() == nil {
		p.Log.Warn("the simulated StorageClass does not exist", "error", err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	for path, apply := range map[string]func(objectChange){
		"/api/v1/persistentvolumeclaims": func(c objectChange) { note(p, p.claims, c) },
		"/api/v1/persistentvolumes":      func(c objectChange) { note(p, p.volumes, c) },
	} {
		f := follower{client: p.Client, path: path, query: url.Values{}, apply: apply}
		running.Go(func() { f.run(ctx, p.Log) })
	}
	p.queue.run(ctx, func(key objectKey) (again time.Time) {
		if err := p.treat(ctx, key); err != nil {
			p.Log.Debug("cannot create or delete a volume", "object", key.String(), "error", err)
			again = time.Now().Add(retryAfter)
		}
		return again
	})
}

func note[V any](p *provisioner, all map[objectKey]*V, change objectChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change.gone {
		delete(all, change.key)
		return
	}
	view := new(V)
	if err := json.Unmarshal(change.object, view); err != nil {
		p.Log.Warn("cannot decode a claim or a volume", "object", change.key.String(), "error", err)
		return
	}
	all[change.key] = view
	p.queue.add(change.key, time.Now())
}

func (p *provisioner) classes() string {
	return "/apis/" + p.Naming.Group("storage") + "/v1/storageclasses"
}

// makeClass creates the StorageClass, unless the cluster has a default one.
func (p *provisioner) makeClass(ctx context.Context) error {
	var list struct {
		Items []classView
	}
	if err := p.read(ctx, p.classes(), &list); err != nil {
		return err
	}
	isDefault := p.Naming.Translate("storageclass.platform.io/is-default-class")
	for _, class := range list.Items {
		if class.Metadata.Annotations[isDefault] == "true" {
			return nil
		}
	}
	_, err := p.send(ctx, http.MethodPost, p.classes(), "", map[string]any{
		"apiVersion": p.Naming.Group("storage") + "/v1", "kind": "StorageClass", "provisioner": provisionerName,
		"metadata": map[string]any{"name": className, "annotations": map[string]string{isDefault: "true"}},
	})
	if rest.HasCode(err, http.StatusConflict) {
		return nil // it exists, and a user has removed the annotation
	}
	return err
}

func (p *provisioner) treat(ctx context.Context, key objectKey) error {
	p.mu.Lock()
	claim, volume := p.claims[key], p.volumes[key]
	p.mu.Unlock()
	switch {
	case claim != nil && p.isToProvision(claim):
		return p.provision(ctx, claim)
	case volume != nil && p.isToDelete(volume):
		_, err := p.send(ctx, http.MethodDelete, "/api/v1/persistentvolumes/"+key.name, "", map[string]any{"preconditions": map[string]any{"uid": volume.Metadata.UID}})
		if rest.HasCode(err, http.StatusNotFound) {
			return nil
		}
		return err
	}
	return nil
}

// isToProvision reports whether the volume controller has assigned a claim to this provisioner.
// With WaitForFirstConsumer, this happens once the scheduler has chosen a node.
func (p *provisioner) isToProvision(claim *claimView) bool {
	return claim.Spec.VolumeName == "" && claim.Metadata.DeletionTimestamp == nil && claim.Spec.StorageClassName != nil &&
		claim.Metadata.Annotations[p.Naming.Translate("volume.platform.io/storage-provisioner")] == provisionerName
}

func (p *provisioner) isToDelete(v *volumeView) bool {
	return v.Status.Phase == "Released" && v.Spec.Policy == "Delete" && v.Metadata.DeletionTimestamp == nil &&
		v.Metadata.Annotations[p.provisionedBy()] == provisionerName
}

func (p *provisioner) provisionedBy() string {
	return p.Naming.Translate("pv.platform.io/provisioned-by")
}

// provision creates a volume that is bound to the claim.
func (p *provisioner) provision(ctx context.Context, claim *claimView) error {
	var class classView
	if err := p.read(ctx, p.classes()+"/"+*claim.Spec.StorageClassName, &class); err != nil {
		return err
	}
	name := "pvc-" + claim.Metadata.UID
	_, err := p.send(ctx, http.MethodPost, "/api/v1/persistentvolumes", "", map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": map[string]any{"name": name, "annotations": map[string]string{p.provisionedBy(): provisionerName}},
		"spec": map[string]any{
			"capacity": claim.Spec.Resources.Requests, "accessModes": claim.Spec.AccessModes, "volumeMode": claim.Spec.VolumeMode,
			"storageClassName": class.Metadata.Name, "persistentVolumeReclaimPolicy": class.ReclaimPolicy, "mountOptions": class.MountOptions,
			"hostPath": map[string]any{"path": "/simulated/" + name},
			"claimRef": map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"namespace": claim.Metadata.Namespace, "name": claim.Metadata.Name, "uid": claim.Metadata.UID,
			},
		},
	})
	if rest.HasCode(err, http.StatusConflict) {
		return nil // created before
	}
	return err
}

func (c *Cluster) read(ctx context.Context, path string, into any) error {
	text, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
