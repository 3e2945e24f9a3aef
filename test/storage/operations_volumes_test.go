package storage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

const (
	persistentVolumes = "/api/v1/persistentvolumes"
	claims            = "/api/v1/namespaces/default/persistentvolumeclaims"
	storageClasses    = "/apis/storage.platform.io/v1/storageclasses"
)

// pv is a volume; more are further fields of its spec.
func pv(name, capacity, modes, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"name":%q}},"spec":{"capacity":{"storage":%q},"accessModes":[%s],"hostPath":{"path":"/x"}%s}}`, name, name, capacity, modes, more)
}

func pvc(name, request, modes, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"resources":{"requests":{"storage":%q}},"accessModes":[%s]%s}}`, name, request, modes, more)
}

// eventually waits until an object has texts in its JSON, without spaces.
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

func boundTo(volume string) []string {
	return []string{`"volumeName":"` + volume + `"`, `"phase":"Bound"`, `"pv.platform.io/bind-completed":"yes"`}
}

// TestClaimsFindVolumes: which volume a claim gets, and what it is told if there is none.
func TestClaimsFindVolumes(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	const once, many = `"ReadWriteOnce"`, `"ReadWriteOnce","ReadOnlyMany"`
	for _, c := range []struct {
		name, claim string
		volumes     []string
		want        string // "" is none
		event       string
	}{
		{"smallest", pvc("smallest", "2Gi", once, `,"storageClassName":"smallest"`), []string{
			pv("smallest-1", "1Gi", once, `,"storageClassName":"smallest"`), pv("smallest-4", "4Gi", once, `,"storageClassName":"smallest"`),
			pv("smallest-3", "3Gi", once, `,"storageClassName":"smallest"`), pv("smallest-2", "2Gi", once, `,"storageClassName":"other"`)}, "smallest-3", ""},
		{"modes", pvc("modes", "1Gi", many, `,"storageClassName":"modes"`), []string{
			pv("modes-1", "1Gi", once, `,"storageClassName":"modes"`), pv("modes-2", "2Gi", many, `,"storageClassName":"modes"`)}, "modes-2", ""},
		{"fewest", pvc("fewest", "1Gi", once, `,"storageClassName":"fewest"`), []string{
			pv("fewest-1", "1Gi", many, `,"storageClassName":"fewest"`), pv("fewest-2", "2Gi", once, `,"storageClassName":"fewest"`)}, "fewest-2", ""},
		{"block", pvc("block", "1Gi", once, `,"storageClassName":"block","volumeMode":"Block"`), []string{
			pv("block-1", "1Gi", once, `,"storageClassName":"block"`), pv("block-2", "2Gi", once, `,"storageClassName":"block","volumeMode":"Block"`)}, "block-2", ""},
		{"chosen", pvc("chosen", "1Gi", once, `,"storageClassName":"chosen","selector":{"matchLabels":{"name":"chosen-2"}}`), []string{
			pv("chosen-1", "1Gi", once, `,"storageClassName":"chosen"`), pv("chosen-2", "9Gi", once, `,"storageClassName":"chosen"`)}, "chosen-2", ""},
		{"named", pvc("named", "1Gi", once, `,"storageClassName":"named","volumeName":"named-2"`), []string{
			pv("named-1", "1Gi", once, `,"storageClassName":"named"`), pv("named-2", "9Gi", once, `,"storageClassName":"named"`)}, "named-2", ""},
		{"promised", pvc("promised", "1Gi", once, `,"storageClassName":"promised"`), []string{
			pv("promised-1", "1Gi", once, `,"storageClassName":"promised"`),
			pv("promised-2", "9Gi", once, `,"storageClassName":"promised","claimRef":{"namespace":"default","name":"promised"}`)}, "promised-2", ""},
		{"misfit", pvc("misfit", "5Gi", once, `,"storageClassName":"misfit","volumeName":"misfit-1"`), []string{
			pv("misfit-1", "1Gi", once, `,"storageClassName":"misfit"`)}, "", "VolumeMismatch"},
		{"foreign", pvc("foreign", "1Gi", once, `,"storageClassName":"","volumeName":"foreign-1"`), []string{
			pv("foreign-1", "1Gi", once, `,"claimRef":{"namespace":"default","name":"another"}`)}, "", `volume \"foreign-1\" already bound to a different claim`},
		{"no-class", pvc("no-class", "1Gi", once, `,"storageClassName":"no-class"`), nil, "", `storageclass.storage.platform.io \"no-class\" not found`},
		{"nothing", pvc("nothing", "100Gi", once, `,"storageClassName":""`), nil, "", "no persistent volumes available for this claim and no storage class is set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := standIn{client.Session{Server: s.Server, Ctx: t.Context(), T: t}, s.log}
			for _, v := range c.volumes {
				s.Send(201, "POST", persistentVolumes, client.JSON, v)
			}
			for _, v := range c.volumes {
				_, name, _ := strings.Cut(v, `"name":"`)
				name, _, _ = strings.Cut(name, `"`)
				s.eventually(persistentVolumes+"/"+name, `"phase":"Available"`)
			}
			s.Send(201, "POST", claims, client.JSON, c.claim)
			if c.want != "" {
				s.eventually(claims+"/"+c.name, boundTo(c.want)...)
				s.eventually(persistentVolumes+"/"+c.want, `"phase":"Bound"`, `"namespace":"default"`, `"name":"`+c.name+`"`)
				return
			}
			s.eventually(claims+"/"+c.name, `"phase":"Pending"`)
			s.eventually("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name="+c.name, c.event)
		})
	}
}

// TestFirstConsumer: a claim of a class that waits is bound when a scheduler has chosen a node, and an external provisioner is then
// asked for it; the volume that it makes is bound.
func TestFirstConsumer(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	s.Send(201, "POST", storageClasses, client.JSON, `{"metadata":{"name":"csi"},"provisioner":"csi.example.com","volumeBindingMode":"WaitForFirstConsumer"}`)
	s.Send(201, "POST", claims, client.JSON, pvc("c", "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"csi"`))
	s.eventually("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=c", "waiting for first consumer to be created before binding")
	if a := s.Send(200, "GET", claims+"/c", "", ""); strings.Contains(string(a.Body), "storage-provisioner") {
		t.Errorf("a provisioner is asked before there is a consumer: %s", a)
	}
	s.Send(200, "PATCH", claims+"/c", typeMerge, `{"metadata":{"annotations":{"volume.platform.io/selected-node":"n"}}}`)
	s.eventually(claims+"/c", `"volume.platform.io/storage-provisioner":"csi.example.com"`, `"volume.beta.platform.io/storage-provisioner":"csi.example.com"`)
	s.eventually("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=c", "by the external provisioner 'csi.example.com'")
	uid := s.Send(200, "GET", claims+"/c", "", "").Object().UID()
	s.Send(201, "POST", persistentVolumes, client.JSON, pv("made", "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"csi","persistentVolumeReclaimPolicy":"Delete",
		"claimRef":{"namespace":"default","name":"c","uid":"`+uid+`"}`))
	s.eventually(claims+"/c", boundTo("made")...)
}

// TestReclaim: what becomes of volumes whose claims are deleted, and of claims whose volumes are.
func TestReclaim(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	for name, want := range map[string]string{"Retain": `"phase":"Released"`, "Delete": `"phase":"Failed"`, "Recycle": `"phase":"Failed"`} {
		at := strings.ToLower(name)
		s.Send(201, "POST", persistentVolumes, client.JSON, pv(at, "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"`+at+`","persistentVolumeReclaimPolicy":"`+name+`"`))
		s.Send(201, "POST", claims, client.JSON, pvc(at, "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"`+at+`"`))
		s.eventually(claims+"/"+at, boundTo(at)...)
		s.Send(200, "DELETE", claims+"/"+at, client.JSON, "")
		s.eventually(persistentVolumes+"/"+at, want)
	}
	s.eventually("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=delete", "no deletable volume plugin matched")
	s.Send(201, "POST", persistentVolumes, client.JSON, pv("lost", "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"lost"`))
	s.Send(201, "POST", claims, client.JSON, pvc("lost", "1Gi", `"ReadWriteOnce"`, `,"storageClassName":"lost"`))
	s.eventually(claims+"/lost", boundTo("lost")...)
	s.Send(200, "DELETE", persistentVolumes+"/lost", client.JSON, "")
	s.Send(200, "PATCH", persistentVolumes+"/lost", typeMerge, `{"metadata":{"finalizers":null}}`)
	s.eventually(claims+"/lost", `"phase":"Lost"`)
	s.eventually("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=lost", "Bound claim has lost its PersistentVolume")
}

// TestBindingSurvivesRestarts: the daemon ends while many claims are bound, and in the end each has a volume of its own.
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

// awaitBound waits until so many claims are bound, or more.
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

// TestEphemeralVolumes: a Pod owns the claim of its ephemeral volume; a claim of somebody else is left alone.
func TestEphemeralVolumes(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	s.Send(201, "POST", claims, client.JSON, pvc("p-theirs", "1Gi", `"ReadWriteOnce"`, ""))
	volume := func(name string) string {
		return `{"name":"` + name + `","ephemeral":{"volumeClaimTemplate":{"metadata":{"labels":{"l":"v"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}`
	}
	pod := s.Send(201, "POST", "/api/v1/namespaces/default/pods", client.JSON,
		`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[`+volume("mine")+`,`+volume("theirs")+`]}}`).Object()
	s.eventually(claims+"/p-mine", `"uid":"`+pod.UID()+`"`, `"labels":{"l":"v"}`, `"controller":true`)
	s.logs("was not created for pod", 1)
	if a := s.Send(200, "GET", claims+"/p-theirs", "", ""); strings.Contains(string(a.Body), pod.UID()) {
		t.Errorf("a foreign claim is taken: %s", a)
	}
}

// TestEphemeralVolumesAreAdmitted: claims that the server makes count for a quota, as those of users do.
func TestEphemeralVolumesAreAdmitted(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	const quotas = "/api/v1/namespaces/default/resourcequotas"
	s.Send(201, "POST", quotas, client.JSON, `{"metadata":{"name":"q"},"spec":{"hard":{"persistentvolumeclaims":"0"}}}`)
	s.Send(201, "POST", "/api/v1/namespaces/default/pods", client.JSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],
		"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}}`)
	s.eventually("/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedBinding", "exceeded quota: q")
	s.Send(404, "GET", claims+"/p-v", "", "")
	s.Send(200, "PATCH", quotas+"/q", typeMerge, `{"spec":{"hard":{"persistentvolumeclaims":"1"}}}`)
	s.eventually(claims+"/p-v", `"name":"p-v"`)
}

// TestFinishedJobs: a finished Job goes after its time, and others stay.
func TestFinishedJobs(t *testing.T) {
	t.Parallel()
	s := serveStandIn(t, t.TempDir(), &client.Log{})
	const jobs = "/apis/batch/v1/namespaces/default/jobs"
	for name, ttl := range map[string]string{"goes": "0", "later": "3600", "stays": "null"} {
		s.Send(201, "POST", jobs, client.JSON, `{"metadata":{"name":"`+name+`"},"spec":{"ttlSecondsAfterFinished":`+ttl+`,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
		now := time.Now().UTC().Format(time.RFC3339)
		s.Send(200, "PATCH", jobs+"/"+name+"/status", typeMerge, `{"status":{"startTime":"`+now+`","conditions":[
			{"type":"FailureTarget","status":"True","lastTransitionTime":"`+now+`"},{"type":"Failed","status":"True","lastTransitionTime":"`+now+`"}]}}`)
	}
	client.Eventually(t, func() error {
		a, err := s.Get(s.Ctx, jobs+"/goes")
		if err == nil && a.Code != 404 {
			err = &a
		}
		return err
	})
	s.Send(200, "GET", jobs+"/later", "", "")
	s.Send(200, "GET", jobs+"/stays", "", "")
	s.Send(200, "PATCH", jobs+"/later", typeMerge, `{"spec":{"ttlSecondsAfterFinished":0}}`)
	client.Eventually(t, func() error {
		a, err := s.Get(s.Ctx, jobs+"/later")
		if err == nil && a.Code != 404 {
			err = &a
		}
		return err
	})
}
