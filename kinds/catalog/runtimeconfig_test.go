package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

func served(t *testing.T, r catalog.RuntimeConfig) string {
	t.Helper()
	c, err := catalog.NewWithConfig(meta.Kubernetes, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, at := range [][3]string{{"", "v1", "pods"}, {"batch", "v1", "jobs"}, {"batch", "v1", "cronjobs"}, {"storage.k8s.io", "v1", "csinodes"}, {"certificates.k8s.io", "v1beta1", "clustertrustbundles"}, {"storagemigration.k8s.io", "v1beta1", "storageversionmigrations"}} {
		if c.Kind(at[0], at[1], at[2]) != nil {
			on = append(on, at[2])
		}
	}
	if all, _ := catalog.New(meta.Kubernetes); len(all.StorageKinds()) != len(c.StorageKinds()) {
		t.Errorf("%v: %d storages, want %d", r, len(c.StorageKinds()), len(all.StorageKinds()))
	}
	return strings.Join(on, " ")
}

func TestRuntimeConfig(t *testing.T) {
	for _, test := range []struct {
		config catalog.RuntimeConfig
		want   string
	}{
		{nil, "pods jobs cronjobs csinodes"},
		{catalog.RuntimeConfig{"batch/v1": false}, "pods csinodes"},
		{catalog.RuntimeConfig{"batch/v1/jobs": false}, "pods cronjobs csinodes"},
		{catalog.RuntimeConfig{"batch/v1": false, "batch/v1/jobs": true}, "pods jobs csinodes"},
		{catalog.RuntimeConfig{"api/all": false, "v1": true}, "pods"},
		{catalog.RuntimeConfig{"api/ga": false, "api/v1/pods": true, "storage.k8s.io/v1": true}, "pods csinodes"},
		{catalog.RuntimeConfig{"api/beta": false}, "pods jobs cronjobs csinodes"},
		{catalog.RuntimeConfig{"api/beta": true}, "pods jobs cronjobs csinodes clustertrustbundles storageversionmigrations"},
		{catalog.RuntimeConfig{"api/all": true, "certificates.k8s.io/v1beta1/clustertrustbundles": false}, "pods jobs cronjobs csinodes storageversionmigrations"},
		{catalog.RuntimeConfig{"api/ga": false, "certificates.k8s.io/v1beta1": true}, "clustertrustbundles"},
	} {
		if got := served(t, test.config); got != test.want {
			t.Errorf("%v serves %s, want %s", test.config, got, test.want)
		}
	}
	off := func(string) bool { return false }
	c, err := catalog.NewWithConfig(meta.Kubernetes, catalog.RuntimeConfig{"api/all": true}, off)
	for _, at := range [][3]string{{"certificates.k8s.io", "v1beta1", "clustertrustbundles"}, {"certificates.k8s.io", "v1", "clustertrustbundles"}, {"storagemigration.k8s.io", "v1", "storageversionmigrations"}} {
		if err != nil || c.Kind(at[0], at[1], at[2]) != nil {
			t.Errorf("%s is served without its feature: %v", at, err)
		}
	}
	_, err = catalog.NewWithConfig(meta.Platform, catalog.RuntimeConfig{"batch/v9": true, "storage.k8s.io/v1": true, "v1": true}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "batch/v9, storage.k8s.io/v1") {
		t.Errorf("unknown keys: %v", err)
	}
}

// TestDefaultVersions checks that the default versions match kube-apiserver 1.37, except for the
// additional autoscaling/v2beta2, which the specification requires.
func TestDefaultVersions(t *testing.T) {
	want := []string{
		"admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1", "apps/v1", "authentication.k8s.io/v1",
		"authorization.k8s.io/v1", "autoscaling/v1", "autoscaling/v2", "autoscaling/v2beta2", "batch/v1", "certificates.k8s.io/v1",
		"coordination.k8s.io/v1", "discovery.k8s.io/v1", "events.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1", "networking.k8s.io/v1",
		"node.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1", "resource.k8s.io/v1", "scheduling.k8s.io/v1", "storage.k8s.io/v1", "storagemigration.k8s.io/v1", "v1",
	}
	c, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, k := range c.Kinds() {
		got[k.APIVersion()] = true
	}
	if versions := slices.Sorted(maps.Keys(got)); !slices.Equal(versions, want) {
		t.Errorf("served are %v, want %v", versions, want)
	}
}
