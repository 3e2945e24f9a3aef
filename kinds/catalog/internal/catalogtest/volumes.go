package catalogtest

const CSIVolume = `"csi":{"driver":"d","volumeHandle":"h"}`
