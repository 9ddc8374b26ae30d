package main

import (
	"fmt"
	"strings"
)

// A harness is a test that puts the whole of pushbox, or of its store, to work and
// checks the outcome against the promises.
type harness struct {
	row   string // its name in the documentation
	pkg   string // the directory of its package below the root
	test  string // its function, and its subtests behind slashes
	work  string // the row of env.Works that sets its length, without its prefix; empty if none does
	rapid bool   // it draws what it does by rapid, the library
}

// function is the test function of the harness.
func (h harness) function() string {
	name, _, _ := strings.Cut(h.test, "/")
	return name
}

// pattern is the value of -run that selects it.
func (h harness) pattern() string {
	name := h.function()
	return "^" + name + "$" + h.test[len(name):]
}

// harnesses are those that a fault names in one word.
func harnesses() map[string]harness {
	return map[string]harness{
		"clock":        {"Clock", "store", "TestNoTraceOfTheClockBringsAnythingBackOrEndsItTooSoon", "CLOCK_TRACES", false},
		"damage":       {"Damage", "store/harness/damage", "TestADamagedFileDoesNoHarm", "DAMAGE_FLIPS", false},
		"disk-errors":  {"I/O errors", "store/harness/power", "TestEveryOperationOfTheDiskMayFail", "IO_PERCENT", false},
		"golden":       {"Golden databases", "store/harness/golden", "TestDatabasesOfEverySchemaOpenWithAllTheirContent", "", false},
		"erasure":      {"Erasure", "store/bolt", "TestErasingBesideWritersAndReadersHarmsNothing", "ERASE_ROUNDS", false},
		"file-kill":    {"Process kill", "internal/harness/kill", "TestAKillLosesNoFileAndLeavesNone", "FILE_KILLS", false},
		"first-boot":   {"First boot", "internal/instance", "TestAPowerCutDuringTheFirstStartDoesNoHarm", "BOOT_PERCENT", false},
		"forgery":      {"Forgery", "store/harness/forgery", "TestAForgeryIsNeverBelieved", "FORGERIES", false},
		"full-disk":    {"Full disk", "internal/harness/disk", "TestAFullDiskLosesNothing", "DISK_SIZES", false},
		"journal":      {"Journal", "store/bolt", "TestReadersSeeEveryViewThatWasAnswered", "JOURNAL_VIEWS", false},
		"key-rotation": {"Key rotation", "internal/instance", "TestAPowerCutDuringARotationOfTheKeyDoesNoHarm", "BOOT_PERCENT", false},
		"kill":         {"Process kill", "internal/harness/kill", "TestAKillLosesNothing", "KILLS", false},
		"linear":       {"Linearizability", "server/harness/linear", "TestMixedOperationsAreLinearizable", "LINEAR_OPS", false},
		"mail":         {"Mail", "internal/harness/kill", "TestEachAcknowledgedCreateHasItsMailSent", "MAIL_KILLS", false},
		"model":        {"Model", "store/harness/model", "TestTheStoreAgreesWithAModel/bbolt", "MODEL_SEQUENCES", true},
		"power-loss":   {"Power loss", "store/harness/power", "TestAPowerCutLosesNothingThatWasAcknowledged", "POWER_IMAGES", false},
		"proxies":      {"Proxies", "internal/harness/proxy", "TestPushboxBehindProxies", "PROXY_MIB", false},
		"race":         {"Race", "store", "TestNoMoreIsDeliveredThanTheLimitHoweverManyAsk", "RACE_PUSHES", false},
		"renewal":      {"Key rotation", "store", "TestARotationSealsEverythingAnewAndDropsTheOldKeys", "", false},
		"renewal-wait": {"Key rotation", "store", "TestARotationWaitsForWhatIsSealedAndNotYetKept", "", false},
		"requests":     {"Requests", "store", "TestARequestEnds", "", false},
		"residue":      {"Residue", "store/harness/residue", "TestNothingIsLeftFiveSecondsAfterAnEnd", "RESIDUE_PUSHES", false},
		"next-start":   {"Residue", "store/harness/residue", "TestNothingIsLeftAfterAStopAndAfterTheNextStart", "RESIDUE_PUSHES", false},
		"restore":      {"Backup", "internal/harness/kill", "TestNoLinkDeliversMoreThanItsLimitAcrossARestore", "RESTORE_KILLS", false},
		"second-boot":  {"First boot", "internal/instance", "TestWhatASecondStartAcknowledgesOutlastsAPowerCut", "", false},
		"servers":      {"Several servers", "store/postgres", "TestServersCountViewsTogether", "", false},
		"slow-clients": {"Slow clients", "internal/harness/slow", "TestSlowClientsKeepNoOtherClientOut", "SLOW_CLIENTS", false},
		"soak":         {"Soak", "internal/harness/soak", "TestWhatALoadTakesComesBack", "SOAK", false},
		"unconfirmed":  {"Mail", "server", "TestASignedUpAccountSendsMailOnceItsAddressIsConfirmed", "", false},
		"upgrade":      {"Upgrade", "internal/instance", "TestAPowerCutDuringAnUpgradeDoesNoHarm", "BOOT_PERCENT", false},
		"webhooks":     {"Webhooks", "internal/harness/kill", "TestEachCountedViewIsReportedAndNoOther", "HOOK_KILLS", false},
	}
}

// drills is the package of the drills, whose subtests are named after advisories.
const drills = "server/harness/drill"

// findHarness returns the harness that a fault names: by its word, as
// "drill ADVISORY", as "fuzz PACKAGE TARGET", or as a test of several servers: "postgres
// TEST" for one of their engine, "shared TEST" for one of their stores.
func findHarness(name string) (harness, error) {
	words := strings.Fields(name)
	switch {
	case len(words) == 2 && words[0] == "drill":
		return harness{"Drills", drills, "TestDrills/" + words[1], "", false}, nil
	case len(words) == 2 && words[0] == "postgres":
		return harness{"PostgreSQL", "store/postgres", words[1], "", false}, nil
	case len(words) == 2 && words[0] == "shared":
		return harness{"Several servers", "store", words[1], "", false}, nil
	case len(words) == 3 && words[0] == "fuzz":
		return harness{"Fuzz", words[1], words[2], "", false}, nil
	}
	h, found := harnesses()[name]
	if !found {
		return harness{}, fmt.Errorf("there is no harness %q", name)
	}
	return h, nil
}
