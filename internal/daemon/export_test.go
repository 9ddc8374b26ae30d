package daemon

// What tests outside of the package use, which run commands as well.
var (
	SettingsFor    = settingsFor
	Opened         = opened
	Closed         = closed
	PrepareBackups = prepareBackups
	KeptFor        = keptFor
)
