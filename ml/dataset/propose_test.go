package dataset

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// written writes a file of n rows below a header: cells come from one function a column.
func written(header, sep string, n int, cells ...func(i int, r *rand.Rand) string) string {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	var b strings.Builder
	if header != "" {
		b.WriteString(header + "\n")
	}
	for i := range n {
		row := lists.Map(cells, func(c cell) string { return c(i, r) })
		b.WriteString(strings.Join(row, sep) + "\n")
	}
	return b.String()
}

type cell = func(i int, r *rand.Rand) string

func between(lo, hi float64) cell {
	return func(_ int, r *rand.Rand) string { return fmt.Sprintf("%.3f", lo+(hi-lo)*r.Float64()) }
}

func whole(lo, hi int) cell {
	return func(_ int, r *rand.Rand) string { return fmt.Sprint(lo + r.IntN(hi-lo+1)) }
}

func oneOf(words ...string) cell {
	return func(_ int, r *rand.Rand) string { return words[r.IntN(len(words))] }
}

// inTurn has every word as often as any.
func inTurn(words ...string) cell {
	return func(i int, _ *rand.Rand) string { return words[i%len(words)] }
}

func from(first int) cell { return func(i int, _ *rand.Rand) string { return fmt.Sprint(first + i) } }

func hash(i int, r *rand.Rand) string { return fmt.Sprintf("%08x", r.Uint32()) }

func person(i int, r *rand.Rand) string { return fmt.Sprintf("Person %d %c.", i*37%1000, 'A'+i%26) }

// at has another value in some rows.
func at(c cell, value string, rows ...int) cell {
	return func(i int, r *rand.Rand) string {
		s := c(i, r)
		if slices.Contains(rows, i) {
			return value
		}
		return s
	}
}

func repeat(n int, c cell) []cell { return slices.Repeat([]cell{c}, n) }

// numbered are names such as f1, f2 …
func numbered(prefix string, n int) string {
	names := lists.Make(n, func(k int) string { return fmt.Sprintf("%s%d", prefix, k+1) })
	return strings.Join(names, ",")
}

// The proposals for realistic files: the sentence, the corrections made and those offered.
func TestPropose(t *testing.T) {
	t.Parallel()
	squares := func(i int, _ *rand.Rand) string { return strconv.Itoa(9*i*i + 1000) }
	for _, c := range []struct{ name, file, want string }{
		{"breast cancer", written("id,diagnosis,"+numbered("worst_", 30), ",", 60, append([]cell{whole(80000, 9e6), inTurn("B", "B", "M")}, repeat(30, between(0, 9))...)...), "Predict diagnosis (B 40, M 20) from 30 columns; id left out"},
		{"breast cancer without a header", written("", ",", 60, append([]cell{whole(80000, 9e6), inTurn("B", "B", "M")}, repeat(30, between(0, 9))...)...), "Predict x2 (B 40, M 20) from 30 columns; x1 left out"},
		{"customers", written("customer,income,age,region,left,hash", ",", 50, from(5001), whole(20000, 90000), whole(18, 80), oneOf("north", "south", "east"), inTurn("no", "no", "no", "no", "yes"), hash), "Predict left (no 40, yes 10) from 3 columns; customer and hash left out"},
		{"Titanic", written(strings.ReplaceAll("PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked", ",", "\t"), "\t", 90, from(1), inTurn("0", "0", "1"), whole(1, 3), person, oneOf("male", "female"), at(whole(1, 80), "", 3, 5, 8, 60), whole(0, 4), whole(0, 3), hash, between(5, 90), at(hash, "", 1, 2, 3, 4, 5, 7, 9, 10), oneOf("S", "C", "Q")), "Predict Survived (0 60, 1 30) from 7 columns; PassengerId, Name, Ticket and Cabin left out; missing median; offers thousands:Fare"},
		{"seaborn's Titanic", written("survived,pclass,sex,age,fare,class,who,adult_male,alive,alone", ",", 60, inTurn("0", "1", "0"), inTurn("1", "2", "3", "3", "2"), oneOf("male", "female"), whole(1, 80), between(5, 90), inTurn("First", "Second", "Third", "Third", "Second"), oneOf("man", "woman", "child"), oneOf("True", "False"), inTurn("no", "yes", "no"), oneOf("True", "False")), "Predict survived (0 40, 1 20) from 8 columns; alive left out; fixed leave:alive"},
		{"the label as numbers, written in two ways", written("x,code,label", ",", 40, between(18, 8000), inTurn("1", "2.0", "1.0", "2"), inTurn("a", "b")), "Predict label (a 20, b 20) from 1 column; code left out; fixed leave:code"},
		{"negative sentinel", written("age,pressure,outcome", ",", 40, at(whole(20, 80), "-999", 3, 9), between(90, 160), inTurn("a", "b")), "Predict outcome (a 20, b 20) from 2 columns; missing median; fixed missing:-999:age"},
		{"positive sentinel", written("dose,x,class", ",", 40, at(whole(1, 60), "9999", 3, 9), between(0, 1), inTurn("a", "b")), "Predict class (a 20, b 20) from 2 columns; missing median; fixed missing:9999:dose"},
		{"signs for a missing class", written("a,b,species", ",", 40, between(0, 1), between(0, 1), at(at(inTurn("setosa", "virginica"), "-", 3, 9), "k.A.", 4)), "Predict species (setosa 19, virginica 18) from 2 columns; missing drop; fixed missing:-:species, missing:k.A.:species"},
		{"signs of two and of three classes", written("a,b,charge", ",", 40, between(0, 1), between(0, 1), inTurn("-", "+", "0", "+")), "Predict charge (+ 20, - 10, 0 10) from 2 columns"},
		{"a dash for no", written("a,b,answer", ",", 40, between(0, 1), between(0, 1), inTurn("yes", "-")), "Predict answer (- 20, yes 20) from 2 columns"},
		{"numbers of cards", written("card,x,y,class", ",", 40, whole(4e15, 5e15), between(0, 1), between(0, 1), inTurn("a", "b")), "Predict class (a 20, b 20) from 2 columns; card left out"},
		{"minus one among positive numbers", written("days,x,class", ",", 40, at(whole(1, 60), "-1", 3, 9), between(0, 1), inTurn("a", "b")), "Predict class (a 20, b 20) from 2 columns; offers missing:-1:days"},
		{"no sentinels", written("temperature,z,class", ",", 40, at(whole(-60, 60), "-1", 3, 9), whole(-3000, 3000), inTurn("a", "b")), "Predict class (a 20, b 20) from 2 columns"},
		{"thousands with a point", written("Einkommen;Alter;Klasse", ";", 12, inTurn("3.376", "989", "12.200", "870", "1.254", "1.000"), whole(20, 80), inTurn("a", "b")), "Predict Klasse (a 6, b 6) from 2 columns; fixed thousands:Einkommen"},
		{"thousands with a comma", written("income,age,class", ",", 12, inTurn(`"20,793"`, `"6,885"`, `"31,000"`), whole(20, 80), inTurn("a", "b")), "Predict class (a 6, b 6) from 2 columns; fixed thousands:income"},
		{"three digits behind every comma", written("x\ty\tclass", "\t", 12, inTurn("3,376", "2,120", "11,000"), whole(20, 80), inTurn("a", "b")), "Predict class (a 6, b 6) from 2 columns; offers thousands:x"},
		{"a single number in doubt", written("x;y;class", ";", 12, inTurn("1.204", "5", "7"), whole(20, 80), inTurn("a", "b")), "Predict class (a 6, b 6) from 2 columns; offers thousands:x"},
		{"three decimals are no thousands", written("x;y;z;t;class", ";", 12, inTurn("3.376", "2.120", "1.000"), inTurn("3.376", "0", "2.120"), inTurn("3.376", "1", "0.512", "2"), between(0, 1), inTurn("a", "b")), "Predict class (a 6, b 6) from 4 columns"},
		{"identifiers in groups of three digits", written("Kunde;Alter;Klasse", ";", 20, func(i int, r *rand.Rand) string {
			return fmt.Sprintf("%d.%03d.%03d", 300+i, r.IntN(1000), r.IntN(1000))
		}, whole(20, 80), inTurn("a", "b")), "Predict Klasse (a 10, b 10) from 1 column; Kunde left out"},
		{"amounts in groups of three digits", written("Umsatz;Alter;Klasse", ";", 20, func(i int, r *rand.Rand) string {
			return fmt.Sprintf("%d.%03d.%03d €", 300+i, r.IntN(1000), r.IntN(1000))
		}, whole(20, 80), inTurn("a", "b")), "Predict Klasse (a 10, b 10) from 2 columns"},
		{"addresses", written("ip,bytes,attack", ",", 12, func(i int, _ *rand.Rand) string { return fmt.Sprintf("10.0.3.%d", i) }, whole(20, 80), inTurn("yes", "no")), "Predict attack (no 6, yes 6) from 1 column; ip left out"},
		{"a currency and hyphens", written("price,x,class", ",", 24, at(inTurn("$12.50", "$3.25", "$7.00"), "-", 3, 9), between(0, 1), inTurn("a", "b")), "Predict class (a 12, b 12) from 2 columns; missing median; fixed words:price"},
		{"total below", written("x,y,label", ",", 12, whole(1, 9), between(0, 9), inTurn("a", "b")) + "Total,60,\n", "Predict label (a 6, b 6) from 2 columns; fixed totals"},
		{"statistics below", written("id,x,label", ",", 12, person, between(0, 9), inTurn("a", "b")) + "Mean,4.5,\nSD,2,\nn,12,\nMin,1,\nMax,9,\n", "Predict label (a 6, b 6) from 1 column; id left out; fixed totals"},
		{"extremes below", written("id,x,label", ",", 12, person, between(0, 9), inTurn("a", "b")) + "Min,1,\nMax,9,\n", "Predict label (a 6, b 6) from 1 column; id left out; fixed totals"},
		{"no, and a name", written("name,smokes,x,label", ",", 12, at(person, "Max", 11), inTurn("y", "n"), between(0, 9), inTurn("a", "b")), "Predict label (a 6, b 6) from 2 columns; name left out"},
		{"total below two columns", written("x,y", ",", 12, between(1, 9), between(0, 9)) + "Total,60\n", "Predict y (numbers: a regression) from 1 column; fixed totals"},
		{"spellings of classes", written("x,y,answer", ",", 36, between(0, 1), between(0, 9), inTurn("NO", "No", "no", "yes", "Yes", "yes ")), "Predict answer (no 18, yes 18) from 2 columns; fixed spelling:answer"},
		{"genotypes are not spellings", written("x,y,allele", ",", 36, between(0, 1), between(0, 9), inTurn("A", "a")), "Predict allele (A 18, a 18) from 2 columns; offers spelling:allele"},
		{"words as features", written("colour,size,weight,kind", ",", 48, oneOf("red", "green", "blue"), oneOf("S", "M", "L"), between(0, 9), inTurn("cat", "dog")), "Predict kind (cat 24, dog 24) from 3 columns"},
		{"nothing but words as features", written("buying,doors,safety,acceptable", ",", 60, oneOf("high", "low"), oneOf("2", "3", "4", "5more"), oneOf("low", "med", "high"), inTurn("unacc", "acc")), "Predict acceptable (acc 30, unacc 30) from 3 columns; offers duplicates"},
		{"sentences", written("id,text,sentiment", ",", 30, from(1), func(i int, r *rand.Rand) string { return "the film was " + strings.Repeat("very ", i) + "good" }, inTurn("pos", "neg")), "Predict sentiment (neg 15, pos 15) from the strings in text; id left out"},
		{"house prices", written("bedrooms,area,neighbourhood,waterfront,price", ",", 60, whole(1, 5), between(40, 200), oneOf("old town", "harbour", "hill"), oneOf("0", "1"), whole(75000, 990000)), "Predict price (numbers: a regression) from 4 columns"},
		{"price first", written("price,bedrooms,area,garage", ",", 60, whole(75000, 990000), whole(1, 5), between(40, 200), oneOf("yes", "no")), "Predict price (numbers: a regression) from 3 columns"},
		{"California", written("longitude,latitude,median_income,median_house_value,ocean_proximity", ",", 60, between(-124, -114), between(32, 42), between(0, 15), whole(15000, 500000), oneOf("INLAND", "NEAR BAY")), "Predict median_house_value (numbers: a regression) from 4 columns"},
		{"mileage", written("mpg,cylinders,displacement,weight,year,origin,name", ",", 60, between(9, 46), oneOf("4", "6", "8"), between(60, 400), whole(1600, 5000), whole(70, 82), whole(1, 3), person), "Predict mpg (numbers: a regression) from 5 columns; name left out"},
		{"a nameless measurement last", written("a,b,c,d", ",", 40, between(0, 1), between(0, 1), between(0, 1), between(0, 1)), "Predict d (numbers: a regression) from 3 columns"},
		{"a nameless class between measurements", written("a,grp,c,d", ",", 40, between(0, 1), inTurn("u", "v"), between(0, 1), between(0, 1)), "Predict grp (u 20, v 20) from 3 columns"},
		{"students", written("school;sex;romantic;studytime;G3", ";", 80, oneOf("GP", "MS"), oneOf("F", "M"), oneOf("yes", "no"), whole(1, 4), whole(0, 20)), "Predict G3 (numbers: a regression) from 4 columns; offers duplicates"},
		{"years and postcodes", written("built,zip,phone,rooms,sold", ",", 40, whole(1950, 2020), whole(10000, 99999), whole(2000000, 9999999), whole(1, 9), inTurn("yes", "no")), "Predict sold (no 20, yes 20) from 2 columns; zip and phone left out"},
		{"dates", written("date,temperature,humidity,rain", ",", 30, func(i int, _ *rand.Rand) string { return fmt.Sprintf("2024-01-%02d", i+1) }, between(-5, 20), between(0, 100), inTurn("no", "no", "yes")), "Predict rain (no 20, yes 10) from 2 columns; date left out"},
		{"survey", written("respondent,q1,q2,q3,q4,satisfaction", ",", 60, from(1), whole(1, 5), whole(1, 5), whole(1, 5), whole(1, 5), inTurn("1", "2", "3", "4", "5")), "Predict satisfaction (1 12, 2 12, 3 12, 4 12, 5 12) from 4 columns; respondent left out"},
		{"plus and minus one first", written("", " ", 30, inTurn("+1", "-1"), between(0, 1), between(0, 1)), "Predict label (-1 15, 1 15) from 2 columns"},
		{"one and two", written("f1,f2,state", ",", 30, between(0, 1), between(0, 1), inTurn("1", "2")), "Predict state (1 15, 2 15) from 2 columns"},
		{"wine without a header", written("", ",", 60, inTurn("1", "2", "3"), between(11, 15), between(1, 5), whole(280, 1680)), "Predict x1 (1 20, 2 20, 3 20) from 3 columns"},
		{"Boston without a header", written("", " ", 60, between(0, 80), oneOf("0", "1"), between(0, 9), between(5, 50)), "Predict x4 (numbers: a regression) from 3 columns"},
		{"booleans", written("x,flag,smoker,ill", ",", 40, between(0, 1), oneOf("TRUE", "FALSE"), oneOf("TRUE", "FALSE"), inTurn("TRUE", "FALSE")), "Predict ill (FALSE 20, TRUE 20) from 3 columns"},
		{"genes", written("sample,"+numbered("g", 150)+",subtype", ",", 24, append(append([]cell{func(i int, _ *rand.Rand) string { return fmt.Sprintf("GSM%d", 1000+i) }}, repeat(150, between(-3, 3))...), inTurn("ALL", "AML"))...), "Predict subtype (ALL 12, AML 12) from 150 columns; sample left out"},
		{"an id and a date", written("id,day,class", ",", 30, from(1), func(i int, _ *rand.Rand) string { return fmt.Sprintf("2024-01-%02d", i+1) }, inTurn("a", "b")), "Predict class (a 15, b 15) from 1 column; day left out"},
		{"ids only beside the label", written("id,class", ",", 30, from(1), inTurn("a", "b")), "Predict class (a 15, b 15) from 1 column"},
		{"mixed case", written("ID,SepalLength,SPECIES", ",", 30, from(1), between(4, 8), inTurn("Setosa", "Virginica")), "Predict SPECIES (Setosa 15, Virginica 15) from 1 column; ID left out"},
		{"names with spaces", written("Customer ID, Loan Amount , Loan Status", ",", 30, from(100), whole(1000, 9000), inTurn("paid", "default")), "Predict Loan Status (default 15, paid 15) from 1 column; Customer ID left out"},
		{"German", written("Kundennummer;Alter;Einkommen;Geschlecht;gekündigt", ";", 40, from(4711), whole(18, 80), func(i int, r *rand.Rand) string { return fmt.Sprintf("%d,5", 1000+r.IntN(5000)) }, oneOf("m", "w"), inTurn("ja", "nein")), "Predict gekündigt (ja 20, nein 20) from 3 columns; Kundennummer left out"},
		{"German price", written("Wohnfläche;Zimmer;Lage;Kaufpreis;Balkon", ";", 40, between(40, 200), whole(1, 5), oneOf("Mitte", "Nord"), whole(90000, 900000), oneOf("ja", "nein")), "Predict Kaufpreis (numbers: a regression) from 4 columns; offers thousands:Wohnfläche"},
		{"French", written("identifiant;âge;taille;espèce;largeur", ";", 40, from(1), whole(1, 9), between(1, 2), inTurn("loup", "chien"), between(0, 1)), "Predict espèce (chien 20, loup 20) from 3 columns; identifiant left out"},
		{"Spanish", written("sexo,edad,diagnóstico,peso", ",", 40, oneOf("M", "F"), whole(18, 80), inTurn("sano", "enfermo"), between(50, 90)), "Predict diagnóstico (enfermo 20, sano 20) from 3 columns"},
		{"Italian", written("età,altezza,classe", ",", 40, whole(18, 80), between(1.5, 2), inTurn("uno", "due")), "Predict classe (due 20, uno 20) from 2 columns"},
		{"label first", written("target,a,b", ",", 40, inTurn("1", "0"), between(0, 1), between(0, 1)), "Predict target (0 20, 1 20) from 2 columns"},
		{"label in the middle", written("a,Churn,b,TotalCharges", ",", 40, between(0, 1), inTurn("Yes", "No"), between(0, 1), between(18, 8000)), "Predict Churn (No 20, Yes 20) from 3 columns"},
		{"Orange", written("C#width,cD#kind,mC#take,D#side", ",", 30, between(0, 1), inTurn("a", "b"), between(0, 9), inTurn("l", "r", "m")), "Predict kind (a 15, b 15) from 2 columns; take left out"},
		{"byte order mark", "\ufeff" + written("id,species,width", ",", 30, from(1), inTurn("a", "b"), between(0, 1)), "Predict species (a 15, b 15) from 1 column; id left out"},
		{"quoted line ends", written("comment,x,label", ",", 30, func(i int, _ *rand.Rand) string { return fmt.Sprintf("\"row %d\nof many\"", i) }, between(0, 1), inTurn("a", "b")), "Predict label (a 15, b 15) from 1 column; comment left out"},
		{"empty columns behind", written("x,y,label,,", ",", 30, between(0, 1), between(0, 1), inTurn("a", "b"), inTurn(""), inTurn("")), "Predict label (a 15, b 15) from 2 columns"},
		{"measurements named like an index", written("x0,sample,label", ",", 30, between(0, 1), between(0, 1), inTurn("a", "b")), "Predict label (a 15, b 15) from 2 columns"},
		{"index of pandas", written(",x,y,label", ",", 30, from(0), between(0, 1), between(0, 1), inTurn("a", "b")), "Predict label (a 15, b 15) from 2 columns; column 1 left out"},
		{"named index of pandas", written("Unnamed: 0,x,y,label", ",", 30, from(0), between(0, 1), between(0, 1), inTurn("a", "b")), "Predict label (a 15, b 15) from 2 columns; Unnamed: 0 left out"},
		{"words among numbers", written("x,y,label", ",", 40, at(between(0, 1), "n/a.", 4, 9), at(whole(100, 900), "see note", 7), inTurn("a", "b")), "Predict label (a 20, b 20) from 2 columns; missing median; fixed words:x, words:y"},
		{"training and test set", written("x,y,label,split", ",", 40, between(0, 1), between(0, 1), inTurn("a", "b"), inTurn("train", "train", "Test")), "Predict label (a 20, b 20) from 2 columns; split left out"},
		{"training and test set last", written("x,y,kind,part", ",", 40, between(0, 1), between(0, 1), inTurn("a", "b", "c"), inTurn("train", "val", "test", "train")), "Predict kind (a 14, b 13, c 13) from 2 columns; part left out"},
		{"predictions beside the label", written("x,y,y_true,y_pred", ",", 40, between(0, 1), between(0, 1), inTurn("a", "b"), inTurn("a", "b", "b")), "Predict y_true (a 20, b 20) from 3 columns"},
		{"constant columns", written("x,unit,version,label", ",", 30, between(0, 1), inTurn("cm"), inTurn("2"), inTurn("a", "b")), "Predict label (a 15, b 15) from 1 column; unit and version left out; fixed leave:version"},
		{"copied columns", written("x,y,twice,label", ",", 30, from(100), between(0, 1), from(100), inTurn("a", "b")), "Predict label (a 15, b 15) from 2 columns; twice left out; fixed leave:twice"},
		{"copied by chance", written("x,y,twice,label", ",", 12, from(100), between(0, 1), from(100), inTurn("a", "b")), "Predict label (a 6, b 6) from 3 columns"},
		{"copied target", written("price_eur,size,price", ",", 40, squares, between(0, 1), squares), "Predict price (numbers: a regression) from 1 column; price_eur left out; fixed leave:price_eur"},
		{"rows that repeat", strings.Repeat(written("", ",", 10, between(0, 1), between(0, 1), inTurn("a", "b")), 2), "Predict label (a 10, b 10) from 2 columns; offers duplicates"},
		{"rare classes", written("x,y,label", ",", 43, between(0, 1), between(0, 1), at(inTurn("a", "b"), "c", 41, 42)), "Predict label (a 21, b 20, c 2) from 2 columns; offers rare:label"},
		{"counts up to three and more", written("dependents,x,y,label", ",", 60, oneOf("0", "1", "2", "0", "1", "3+"), between(0, 1), between(0, 1), inTurn("a", "b")), "Predict label (a 30, b 30) from 3 columns"},
		{"bank", written("age;job;marital;balance;duration;y", ";", 60, whole(18, 90), oneOf("admin", "services"), oneOf("single", "married"), whole(-500, 9000), whole(5, 900), inTurn("no", "no", "yes")), "Predict y (no 40, yes 20) from 5 columns"},
		{"y beside x", written("x,y,colour", ",", 40, between(0, 1), between(0, 1), inTurn("red", "blue")), "Predict colour (blue 20, red 20) from 2 columns"},
		{"adult", written("age,workclass,education,sex,hours,income", ",", 60, whole(18, 90), oneOf("Private", "State"), oneOf("HS", "BA", "MA"), oneOf("Male", "Female"), whole(10, 60), inTurn("<=50K", "<=50K", ">50K")), "Predict income (<=50K 40, >50K 20) from 5 columns"},
		{"attrition", written("Age,Attrition,Department,MonthlyIncome,EmployeeNumber,Over18,JobSatisfaction", ",", 60, whole(18, 60), inTurn("Yes", "No", "No"), oneOf("Sales", "Research"), whole(1000, 20000), from(1), inTurn("Y"), whole(1, 4)), "Predict Attrition (No 40, Yes 20) from 4 columns; EmployeeNumber and Over18 left out"},
		{"fraud", written("Time,V1,V2,Amount,Class", ",", 60, whole(0, 90000), between(-3, 3), between(-3, 3), between(0, 900), inTurn("0", "0", "0", "1")), "Predict Class (0 45, 1 15) from 4 columns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkProposal(t, c.file, c.want)
		})
	}
}

// checkProposal compares a proposal with the expected one and with its data, and returns it.
func checkProposal(t *testing.T, file, want string) *Proposal {
	t.Helper()
	table := require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t)
	p := table.Propose(Mapping{})
	require.Equal(t, cmp.Diff(want, proposed(p)), "", "(-want +got)")
	d := require.Value(table.Data(p.Mapping))(t, "what is proposed is refused")
	require.Check(t, len(d.Classes) == len(p.Classes) || p.Regression(),
		"%d classes, and the sentence names %d", len(d.Classes), len(p.Classes))
	require.Check(t, d.Measured() == p.Regression(), "measured %v, and the sentence says %s", d.Measured(), p.What())
	short := require.Value(table.Data(Mapping{Proposed: true}))(t)
	sameData(t, d, short)
	return p
}

// Thousands separators go where there may be some, and other numbers stay.
func TestProposedChecks(t *testing.T) {
	t.Parallel()
	file := written("income;age;class", ";", 8, inTurn("3.376", "989", "12.200", "870", "1.254", "1.000", "7", "2.500"), from(31), inTurn("a", "b"))
	table := require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t)
	fixes := []Fix{{Kind: FixThousands, Column: "income"}, {Kind: FixThousands, Column: "age"}}
	for _, f := range fixes {
		require.Equal(t, require.Value(ParseFix(f.String()))(t), f, "read again")
	}
	d := require.Value(table.Data(Mapping{Label: "class", Features: []string{"income", "age"}, Fixes: fixes}))(t)
	var incomes []float64
	for i := range d.Len() {
		incomes = append(incomes, d.X.At(i, 0))
		require.Equal(t, d.X.At(i, 1), float64(31+i), "age")
	}
	require.Equal(t, cmp.Diff([]float64{3376, 989, 12200, 870, 1254, 1000, 7, 2500}, incomes), "", "incomes (-want +got)")
	// A row of totals is announced by its word in any column, words by their first lines.
	for file, want := range map[string]string{
		written("x,y,label", ",", 12, from(3), from(7), inTurn("a", "b")) + "102,150,\n":                                                                     `The last row is the sum of the rows above.`,
		"x,y,label\n1,2,a\n2,n,b\n3,4,a\n4,5,b\n5,6,a\n6,7,b\n":                                                                                              `y is numeric except for 1 row ("n" on line 3).`,
		"x,y\n95.100,\"1,5\"\n12.250,\"2,25\"\n7.125,\"3,5\"\n":                                                                                              `x has three digits after every point.`,
		written("x,of,label", ",", 12, whole(1, 9), oneOf("u", "v"), inTurn("a", "b")) + "60,Sum,\n":                                                         `The last row looks like a total ("Sum").`,
		written("x,label", ",", 40, at(at(between(1, 9), "abc", 7, 9), "n.m.", 3), inTurn("a", "b")):                                                         `x is numeric except for 3 rows ("n.m." on line 5, "abc" on line 9).`,
		"# a remark\n" + written("x,label", ",", 600, at(func(i int, _ *rand.Rand) string { return strconv.Itoa(i * 7 % 599) }, "abc", 7), inTurn("a", "b")): `x is numeric except for 1 row ("abc" on line 10).`,
	} {
		table := require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t)
		require.Equal(t, table.Propose(Mapping{}).Checks[0].Text, want, "the first check")
	}
	// Words that look alike are one, however their characters are written.
	file = "x,town\n" + strings.Repeat("1,Z\u00fcrich\n2,Zu\u0308rich\n3,Bern\n4,Be\u00adrn\n5,Bern\u00a0\n", 3)
	table = require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t)
	d = require.Value(table.Data(Mapping{Proposed: true}))(t)
	require.Slices(t, d.Classes, []string{"Bern", "Z\u00fcrich"}, "classes")
	want := "spellings of town that differ only by case, spaces or invisible characters unified (6 rows)"
	require.Check(t, slices.Contains(d.Notes, want), "notes %q", d.Notes)
	file = written("x,label", ",", 40, at(at(between(1, 9), "<0.1", 7, 9), ">100", 3), inTurn("a", "b"))
	d = require.Value(require.Value(ParseTable(strings.NewReader(file), "f", Limits{}))(t).Data(Mapping{Proposed: true}))(t)
	want = `text in the numeric column x treated as missing (3 rows: ">100" on line 5, "<0.1" on line 9)`
	require.Check(t, slices.Contains(d.Notes, want), "notes %q", d.Notes)
	// The question about rare classes is a sentence for one class and for several.
	for rare, want := range map[string]string{
		"3,c\n":      "1 class of kind has fewer than 5 rows (c).",
		"3,c\n4,d\n": "2 classes of kind have fewer than 5 rows (c, d).",
	} {
		table := require.Value(ParseTable(strings.NewReader("x,kind\n"+strings.Repeat("1,a\n2,b\n", 20)+rare), "f.csv", Limits{}))(t)
		checks := table.Propose(Mapping{}).Checks
		require.Check(t, slices.ContainsFunc(checks, func(c Check) bool { return c.Text == want }), "want %s, got %v", want, checks)
	}
}

// proposed writes a proposal in a line.
func proposed(p *Proposal) string {
	s, _, _ := strings.Cut(p.Sentence(), "; ")
	if left := p.LeftText(); left != "" {
		s += "; " + left
	}
	if p.Regression() {
		s = strings.Replace(s, p.What(), "numbers: a regression", 1)
	}
	if p.Missing != "" {
		s += "; missing " + string(p.Missing)
	}
	var fixed, offers []string
	for _, c := range p.Checks {
		if c.Applied {
			fixed = append(fixed, c.Fix.String())
		} else {
			offers = append(offers, c.Fix.String())
		}
	}
	if fixed != nil {
		s += "; fixed " + strings.Join(fixed, ", ")
	}
	if offers != nil {
		s += "; offers " + strings.Join(offers, ", ")
	}
	return s
}

// Values are counted alike by their hashes and by themselves, up to the bound.
func TestCountedValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, period, distinct int
		repeated               bool
	}{
		{5000, 5000, 5000, false},
		{5000, 1999, 1999, true},
		{mostCounted + 5000, mostCounted + 5000, mostCounted, false},
		{mostCounted + 5000, mostCounted, mostCounted, true},
	} {
		texts := lists.Make(c.rows, func(i int) string { return strconv.Itoa(i % c.period) })
		column := column("x", texts)
		if distinct, repeated := factsOf(&column).count(); distinct != c.distinct || repeated != c.repeated {
			t.Errorf("%d rows of period %d: %d differ (want %d), repeated %v (want %v)", c.rows, c.period, distinct, c.distinct, repeated, c.repeated)
		}
	}
}

// A sparse file of a few named columns takes memory and time in proportion to them, however large
// their indices are. Not parallel, as others would count.
func TestEmptyColumns(t *testing.T) {
	for last, left := range map[int]int{900: 896, 1_000_000: 0} {
		file := strings.Repeat(fmt.Sprintf("+1 3:1 7:2 %d:1\n-1 3:2 8:1\n", last), 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table := require.Value(ParseTable(strings.NewReader(file), "wide.libsvm", Limits{Bytes: 1 << 30, Columns: last + 1}))(t)
		p := table.Propose(Mapping{})
		d := require.Value(table.Data(p.Complete(Mapping{})))(t)
		runtime.ReadMemStats(&after)
		require.Equal(t, strings.Join(d.Features, " "), fmt.Sprint("x3 x7 x8 x", last), "features")
		require.Equal(t, len(p.Left), left, "columns left out of %d", last)
		require.Equal(t, slices.Contains(d.Notes, "999996 columns that no line names left out"), left == 0, "notes %q", d.Notes)
		const most = 50 << 20
		size := after.TotalAlloc - before.TotalAlloc
		require.Check(t, size < most, "%d columns: %d MB allocated", last, size>>20)
	}
}
