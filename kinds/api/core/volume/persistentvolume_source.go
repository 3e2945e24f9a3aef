package volume

// volumeSources lists the PersistentVolume sources in sorted order. Most no longer have a driver,
// but stored volumes must remain readable and deletable.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}
