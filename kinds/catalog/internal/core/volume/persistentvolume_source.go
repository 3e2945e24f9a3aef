package volume

// volumeSources are the sources of a PersistentVolume, sorted. Most of them are served by no driver any
// more, but volumes with them are still stored, and must be read and deleted. That exactly one is set is
// declared.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}
