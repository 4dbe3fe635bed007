// SPDX-License-Identifier: GPL-2.0
//
// How long Porcupine takes for a history, for tools/bench-beside, which builds this file as if it
// were one of Porcupine's tests: so it can use kvModel and parseKvLog.  It prints what check.c does.
//
//	BESIDE="MODEL FILE SECONDS" porcupine.test -test.run Beside

package porcupine

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

type besideInput struct {
	method string
	value  int
}

var besideRegister = Model{
	Init: func() interface{} { return 0 },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		in := input.(besideInput)
		if in.method == "write" {
			return true, in.value
		}
		return output.(int) == state.(int), state
	},
}

// Read operations of klin's text form: THREAD @OBJECT CALL RETURN METHOD [VALUE] [-> RESULT].
func readKlin(name string) []Operation {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var history []Operation
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 5 || f[0] == "#" {
			continue
		}
		client, _ := strconv.Atoi(f[0][1:])
		call, _ := strconv.ParseInt(f[2], 10, 64)
		ret, _ := strconv.ParseInt(f[3], 10, 64)
		in, out := besideInput{method: f[4]}, 0
		for i := 5; i < len(f); i++ {
			if f[i] == "->" {
				out, _ = strconv.Atoi(f[i+1])
				break
			}
			if v, err := strconv.Atoi(f[i]); err == nil {
				in.value = v
			}
		}
		history = append(history, Operation{ClientId: client, Input: in, Call: call, Output: out, Return: ret})
	}
	return history
}

func median(times []float64) float64 {
	half := append([]float64(nil), times[len(times)/2:]...)
	sort.Float64s(half)
	return half[len(half)/2]
}

func TestBeside(t *testing.T) {
	words := strings.Fields(os.Getenv("BESIDE"))
	if len(words) != 3 {
		t.Skip("no BESIDE")
	}
	seconds, _ := strconv.ParseFloat(words[2], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	var reading, checking []float64
	var ok bool
	for len(checking) == 0 || len(checking) < 2001 && time.Now().Before(end) {
		var events []Event
		var history []Operation
		start := time.Now()
		if words[0] == "register" {
			history = readKlin(words[1])
		} else {
			events = parseKvLog(words[1])
		}
		reading = append(reading, time.Since(start).Seconds()*1e3)
		start = time.Now()
		switch words[0] {
		case "register":
			ok = CheckOperations(besideRegister, history)
		case "kv":
			ok = CheckEvents(kvModel, events)
		default:
			ok = CheckEvents(kvNoPartitionModel, events)
		}
		checking = append(checking, time.Since(start).Seconds()*1e3)
	}
	verdict := "wrong"
	if ok {
		verdict = "right"
	}
	fmt.Printf("%s\t%.4f\t%.4f\n", verdict, median(reading), median(checking))
}
