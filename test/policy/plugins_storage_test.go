package policy

import (
	"testing"

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

func storageClass(name, annotation string) string {
	return `{"metadata":{"name":"` + name + `","annotations":{"` + annotation + `":"true"}},"provisioner":"example.com/p"}`
}

// TestDefaultStorageClass checks that a new default StorageClass applies to the next
// PersistentVolumeClaim. Among several defaults, the newest wins.
func TestDefaultStorageClass(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		hasClass := func(name, want string, more string) {
			c.t.Helper()
			got, given := c.must(claims, claim(name, more))["spec"].(map[string]any)["storageClassName"].(string)
			if got != want || given != (want != "" || more != "") {
				c.t.Errorf("the class of %s is %q, want %q", name, got, want)
			}
		}
		c.must(storageClasses, storageClass("no", "example.com/other"))
		hasClass("a", "", "")
		c.must(storageClasses, storageClass("old", "storageclass.beta.platform.io/is-default-class"))
		hasClass("b", "old", "")
		hasClass("c", "", `,"storageClassName":""`)
		hasClass("d", "no", `,"storageClassName":"no"`)
		client.NextSecond() // the newer class needs a later creation timestamp
		c.must(storageClasses, storageClass("new", "storageclass.platform.io/is-default-class"))
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
