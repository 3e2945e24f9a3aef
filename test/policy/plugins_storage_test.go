package policy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	claims         = "/api/v1/namespaces/default/persistentvolumeclaims"
	storageClasses = "/apis/storage.platform.io/v1/storageclasses"
	ingresses      = "/apis/networking.platform.io/v1/namespaces/default/ingresses"
	ingressClasses = "/apis/networking.platform.io/v1/ingressclasses"
)

func claim(name, more string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}` + more + `}}`
}

func storageClass(name, annotation, more string) string {
	return `{"metadata":{"name":"` + name + `","annotations":{"` + annotation + `":"true"}},"provisioner":"example.com/p"` + more + `}`
}

// A default counts from the moment at which the write that makes it one is answered; of several, the newest.
func TestDefaultStorageClass(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		hasClass := func(name, want string, more string) {
			c.t.Helper()
			got, given := c.must(claims, claim(name, more))["spec"].(map[string]any)["storageClassName"].(string)
			if got != want || given != (want != "" || more != "") {
				c.t.Errorf("the class of %s is %q, want %q", name, got, want)
			}
		}
		c.must(storageClasses, storageClass("no", "example.com/other", ""))
		hasClass("a", "", "")
		c.must(storageClasses, storageClass("old", "storageclass.beta.platform.io/is-default-class", ""))
		hasClass("b", "old", "")
		hasClass("c", "", `,"storageClassName":""`)
		hasClass("d", "no", `,"storageClassName":"no"`)
		client.NextSecond() // the newer one has a later time of creation
		c.must(storageClasses, storageClass("new", "storageclass.platform.io/is-default-class", ""))
		hasClass("e", "new", "")
		c.expect("root", "PATCH", storageClasses+"/new", `{"metadata":{"annotations":null}}`, 200)
		hasClass("f", "old", "")
		c.expect("root", "DELETE", storageClasses+"/old", "", 200)
		hasClass("g", "", "")
	})
}

func TestDefaultIngressClass(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		create := func(name, more, class string) {
			c.t.Helper()
			o := c.must(ingresses, `{"metadata":{"name":"`+name+`"`+more+`},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`)
			if got, _ := o["spec"].(map[string]any)["ingressClassName"].(string); got != class {
				c.t.Errorf("the class of %s is %q, want %q", name, got, class)
			}
		}
		ingressClass := func(name string) {
			c.must(ingressClasses, `{"metadata":{"name":"`+name+`","annotations":{"ingressclass.platform.io/is-default-class":"true"}},"spec":{"controller":"example.com/c"}}`)
		}
		create("a", "", "")
		ingressClass("old")
		create("b", "", "old")
		create("c", `,"annotations":{"platform.io/ingress.class":"x"}`, "")
		client.NextSecond()
		ingressClass("new")
		create("d", "", "new")
	})
}

func TestClaimsGrow(t *testing.T) {
	t.Parallel()
	// The test writes the status of claims itself.
	c := serveUsers(t, func(config *daemon.Config, _ string) { config.Controllers = client.KeepingControllers })
	c.must(storageClasses, storageClass("grows", "example.com/other", `,"allowVolumeExpansion":true`))
	c.must(storageClasses, storageClass("fixed", "example.com/other", ""))
	const larger = `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`
	for _, name := range []string{"grows", "fixed"} {
		c.must(claims, claim(name, `,"storageClassName":"`+name+`"`))
		c.expect("root", "PATCH", claims+"/"+name+"/status", `{"status":{"phase":"Bound"}}`, 200)
	}
	c.must(claims, claim("pending", `,"storageClassName":"grows"`))
	c.expect("root", "PATCH", claims+"/grows", larger, 200, `"storage":"2Gi"`)
	c.expect("root", "PATCH", claims+"/fixed", larger, 403, `persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
	c.expect("root", "PATCH", claims+"/pending", larger, 422)
	c.expect("root", "PATCH", storageClasses+"/fixed", `{"allowVolumeExpansion":true}`, 200)
	c.expect("root", "PATCH", claims+"/fixed", larger, 200)
}

// What storage needs is deleted when nothing uses it any more.
func TestStorageInUse(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		const classes = "/apis/storage.platform.io/v1/volumeattributesclasses"
		has := func(o client.Object, finalizer string) {
			c.t.Helper()
			if finalizers, _ := o.Metadata()["finalizers"].([]any); !slices.Contains(finalizers, any(c.named(finalizer))) {
				c.t.Errorf("%s has the finalizers %v, want %s", o.Name(), finalizers, c.named(finalizer))
			}
		}
		gone := func(path string) {
			c.t.Helper()
			client.Eventually(c.t, func() error {
				if a := c.do("root", "GET", path, ""); a.Code != 404 {
					return fmt.Errorf("%s: %s", path, a)
				}
				return nil
			})
		}
		for _, name := range []string{"used", "wanted", "free"} {
			has(c.must(classes, `{"metadata":{"name":"`+name+`"},"driverName":"d.example.com","parameters":{"a":"b"}}`), "platform.io/vac-protection")
		}
		has(c.must(claims, claim("c", `,"storageClassName":"x","volumeAttributesClassName":"used"`)), "platform.io/pvc-protection")
		has(c.must("/api/v1/persistentvolumes", `{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],`+
			`"csi":{"driver":"d.example.com","volumeHandle":"h"},"volumeAttributesClassName":"wanted"}}`), "platform.io/pv-protection")
		for _, name := range []string{"used", "wanted", "free"} {
			c.expect("root", "DELETE", classes+"/"+name, "", 200)
		}
		gone(classes + "/free")
		c.expect("root", "GET", classes+"/used", "", 200, "deletionTimestamp")
		c.expect("root", "GET", classes+"/wanted", "", 200, "deletionTimestamp")
		c.expect("root", "DELETE", claims+"/c", "", 200)
		gone(classes + "/used")
		c.expect("root", "DELETE", "/api/v1/persistentvolumes/v", "", 200)
		gone(classes + "/wanted")
	})
}
