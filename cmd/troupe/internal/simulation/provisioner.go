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

// provisionerName is that of the StorageClass of the simulation, which it makes volumes for.
const provisionerName = "troupe/simulated"

// className is that of the StorageClass that is made, as the default one.
const className = "simulated"

// A provisioner makes a volume for each claim that the volume controller hands to it, by an annotation, and deletes it when it
// is released. Nothing is stored anywhere. Where it is lies in the API alone, and a volume has the claim's uid in its name: one
// that is killed, or is not alone, makes no volume twice.
type provisioner struct {
	*Cluster
	queue *queue

	mu      sync.Mutex
	claims  map[objectKey]*claimView
	volumes map[objectKey]*volumeView // whose keys have no namespace
}

// A claimView is what is read of a PersistentVolumeClaim.
type claimView struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		StorageClassName *string         `json:"storageClassName"`
		AccessModes      json.RawMessage `json:"accessModes"`
		VolumeMode       string          `json:"volumeMode"`
		VolumeName       string          `json:"volumeName"`
		Resources        struct {
			Requests json.RawMessage `json:"requests"`
		} `json:"resources"`
	} `json:"spec"`
}

// A volumeView is what is read of a PersistentVolume.
type volumeView struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Policy string `json:"persistentVolumeReclaimPolicy"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// A classView is what is read of a StorageClass.
type classView struct {
	Metadata      Metadata `json:"metadata"`
	ReclaimPolicy string   `json:"reclaimPolicy"`
	MountOptions  []string `json:"mountOptions,omitempty"`
}

func newProvisioner(c *Cluster) *provisioner {
	return &provisioner{Cluster: c, queue: newQueue(), claims: map[objectKey]*claimView{}, volumes: map[objectKey]*volumeView{}}
}

// run makes and deletes volumes until the context ends.
func (p *provisioner) run(ctx context.Context) {
	if err := retry(ctx, func() error { return p.makeClass(ctx) }); err != nil && ctx.Err() == nil {
		p.Log.Warn("there is no StorageClass of the simulation", "error", err)
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
			p.Log.Debug("a volume cannot be made or deleted", "object", key.String(), "error", err)
			again = time.Now().Add(retryAfter)
		}
		return again
	})
}

// note takes a claim or a volume from its watch.
func note[V any](p *provisioner, all map[objectKey]*V, change objectChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change.gone {
		delete(all, change.key)
		return
	}
	view := new(V)
	if err := json.Unmarshal(change.object, view); err != nil {
		p.Log.Warn("a claim or a volume cannot be read", "object", change.key.String(), "error", err)
		return
	}
	all[change.key] = view
	p.queue.add(change.key, time.Now())
}

func (p *provisioner) classes() string {
	return "/apis/" + p.Naming.Group("storage") + "/v1/storageclasses"
}

// makeClass makes the StorageClass of the simulation, unless the cluster has a default one, which it may have volumes for.
func (p *provisioner) makeClass(ctx context.Context) error {
	var list struct {
		Items []classView `json:"items"`
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
		return nil // it is there, and somebody has taken the annotation away
	}
	return err
}

// treat makes or deletes a volume, if it is time to.
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

// isToProvision tells that the volume controller waits for the volume of a claim: with a class that waits for the first Pod it
// does so when the scheduler has chosen a node.
func (p *provisioner) isToProvision(claim *claimView) bool {
	return claim.Spec.VolumeName == "" && claim.Metadata.DeletionTimestamp == nil && claim.Spec.StorageClassName != nil &&
		claim.Metadata.Annotations[p.Naming.Translate("volume.platform.io/storage-provisioner")] == provisionerName
}

// isToDelete tells that a volume of ours is not wanted any more.
func (p *provisioner) isToDelete(v *volumeView) bool {
	return v.Status.Phase == "Released" && v.Spec.Policy == "Delete" && v.Metadata.DeletionTimestamp == nil &&
		v.Metadata.Annotations[p.provisionedBy()] == provisionerName
}

func (p *provisioner) provisionedBy() string {
	return p.Naming.Translate("pv.platform.io/provisioned-by")
}

// provision makes the volume of a claim, which is bound to it from the start.
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
		return nil // it was made before
	}
	return err
}

// read reads an object or a list.
func (c *Cluster) read(ctx context.Context, path string, into any) error {
	text, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
