package volume

// volumeSources lists PersistentVolume sources in sorted order. Most lack a driver, but stored
// volumes must remain readable and deletable. A declared rule requires exactly one source.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}
