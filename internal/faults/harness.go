package main

import "strings"

// A harness is a test that has the whole of pushbox, or of its store, do something
// for long, and that judges what came of it by the promises.
type harness struct {
	row  string // what it is called in docs/testing.md
	pkg  string // the directory of its package below the root
	test string // its function, and behind slashes which of its subtests
}

// function is the test function that the harness is in.
func (h harness) function() string {
	name, _, _ := strings.Cut(h.test, "/")
	return name
}

// pattern is what -run takes for it.
func (h harness) pattern() string {
	name := h.function()
	return "^" + name + "$" + h.test[len(name):]
}

func kill() harness { return harness{row: "Process kill", pkg: ".", test: "TestAKillLosesNothing"} }

func powerLoss() harness {
	return harness{row: "Power loss", pkg: "store", test: "TestAPowerCutLosesNothingThatWasAcknowledged"}
}

func firstBoot() harness {
	return harness{row: "First boot", pkg: "internal/cli", test: "TestAPowerCutDuringTheFirstStartDoesNoHarm"}
}

func secondBoot() harness {
	return harness{row: "First boot", pkg: "internal/cli", test: "TestWhatASecondStartAcknowledgesOutlastsAPowerCut"}
}

func diskErrors() harness {
	return harness{row: "I/O errors", pkg: "store", test: "TestEveryOperationOfTheDiskMayFail"}
}

func fullDisk() harness {
	return harness{row: "Full disk", pkg: ".", test: "TestAFullDiskLosesNothing"}
}

func damage() harness {
	return harness{row: "Damage", pkg: "store", test: "TestADamagedFileDoesNoHarm"}
}

func race() harness {
	return harness{row: "Race", pkg: "store", test: "TestNoMoreIsDeliveredThanTheLimitHoweverManyAsk"}
}

func linear() harness {
	return harness{row: "Linearizability", pkg: "server", test: "TestMixedOperationsAreLinearizable"}
}

func clock() harness {
	return harness{row: "Clock", pkg: "store", test: "TestNoTraceOfTheClockBringsAnythingBackOrEndsItTooSoon"}
}

func model() harness {
	return harness{row: "Model", pkg: "store", test: "TestTheStoreAgreesWithAModel"}
}

func fuzz(pkg, target string) harness { return harness{row: "Fuzz", pkg: pkg, test: target} }

// drill is the drill for the advisory of that id.
func drill(id string) harness {
	return harness{row: "Drills", pkg: "server", test: "TestDrills/" + id}
}

func slowClients() harness {
	return harness{row: "Slow clients", pkg: ".", test: "TestSlowClientsKeepNobodyOut"}
}

func proxies() harness {
	return harness{row: "Proxies", pkg: ".", test: "TestPushboxBehindProxies"}
}

func soak() harness {
	return harness{row: "Soak", pkg: ".", test: "TestWhatALoadTakesComesBack"}
}

// readers is the part of the journal's tests in which readers meet its every state.
func readers() harness {
	return harness{row: "Journal", pkg: "store/bolt", test: "TestReadersSeeEveryViewThatWasAnswered"}
}
