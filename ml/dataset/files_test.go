package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"marginlab/ml/mltest/require"
)

// Realistic files: public data sets in the layouts in which they are distributed, and the output of
// registers, shops, laboratories and surveys. The values are random; the expected proposal is stated.

func normal(mu, sd float64, digits int) cell {
	return func(_ int, r *rand.Rand) string { return fmt.Sprintf("%.*f", digits, mu+sd*r.NormFloat64()) }
}

func lognormal(mu, sd float64, digits int) cell {
	return func(_ int, r *rand.Rand) string { return fmt.Sprintf("%.*f", digits, math.Exp(mu+sd*r.NormFloat64())) }
}

func poisson(m float64) cell {
	return func(_ int, r *rand.Rand) string {
		k, p := 0, r.Float64()
		for p > math.Exp(-m) {
			p *= r.Float64()
			k++
		}
		return fmt.Sprint(k)
	}
}

func share(p float64, yes, no string) cell {
	return func(_ int, r *rand.Rand) string {
		if r.Float64() < p {
			return yes
		}
		return no
	}
}

func sometimes(c cell, p float64, v string) cell {
	return func(i int, r *rand.Rand) string {
		s := c(i, r)
		if r.Float64() < p {
			return v
		}
		return s
	}
}

func fullName(i int, r *rand.Rand) string {
	return fmt.Sprintf("%q", fmt.Sprintf("%s, %s. %s", []string{"Braund", "Cumings", "Heikkinen", "Futrelle", "Allen", "Moran"}[r.IntN(6)], []string{"Mr", "Mrs", "Miss", "Master"}[r.IntN(4)], []string{"Owen", "John", "Laina", "Jacques", "William", "James", "Anna", "Elisabeth"}[r.IntN(8)]+fmt.Sprint(" ", string(rune('A'+r.IntN(26))), string(rune('a'+r.IntN(26))))))
}

func ticket(i int, r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return fmt.Sprintf("PC %d", 17000+r.IntN(600))
	}
	return fmt.Sprint(110000 + r.IntN(250000))
}

func cabin(i int, r *rand.Rand) string {
	if r.IntN(4) > 0 {
		return ""
	}
	return fmt.Sprintf("%c%d", 'A'+r.IntN(6), 1+r.IntN(130))
}

func dateIn(layout string) cell {
	return func(i int, r *rand.Rand) string {
		y, m, d := 2020+r.IntN(4), 1+r.IntN(12), 1+r.IntN(28)
		switch layout {
		case "iso":
			return fmt.Sprintf("%d-%02d-%02d", y, m, d)
		case "us":
			return fmt.Sprintf("%d/%d/%d", m, d, y)
		case "de":
			return fmt.Sprintf("%02d.%02d.%d", d, m, y)
		case "time":
			return fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d", y, m, d, r.IntN(24), r.IntN(60), r.IntN(60))
		case "t":
			return fmt.Sprintf("%d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, r.IntN(24), r.IntN(60), r.IntN(60))
		case "word":
			return fmt.Sprintf("%d %s %d", d, []string{"Jan", "Feb", "Mar", "Apr"}[r.IntN(4)], y)
		}
		return fmt.Sprint(1577836800 + r.IntN(100000000))
	}
}

func sentence(i int, r *rand.Rand) string {
	w := strings.Fields("the a great awful film movie plot actors were was boring superb loved hated it really very not good bad scenes long short")
	var b []string
	for range 6 + r.IntN(12) {
		b = append(b, w[r.IntN(len(w))])
	}
	return "\"" + strings.Join(b, " ") + "\""
}

func u16(s string) string {
	var b bytes.Buffer
	b.WriteString("\xff\xfe")
	for _, c := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(c))
		b.WriteByte(byte(c >> 8))
	}
	return b.String()
}

func latin(s string) string {
	var b []byte
	for _, c := range s {
		b = append(b, byte(c))
	}
	return string(b)
}

func gz(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func recordsOf(csv string) string {
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	names := strings.Split(lines[0], ",")
	var all []string
	for _, l := range lines[1:] {
		var f []string
		for j, v := range strings.Split(l, ",") {
			n, _ := json.Marshal(names[j])
			if _, ok := parseNumber(v); !ok {
				q, _ := json.Marshal(v)
				v = string(q)
				if v == `""` {
					v = "null"
				}
			}
			f = append(f, string(n)+":"+v)
		}
		all = append(all, "{"+strings.Join(f, ",")+"}")
	}
	return "[" + strings.Join(all, ",\n") + "]"
}

// TestProposeFiles checks the proposals for realistic files, and whether there is nothing to ask.
func TestProposeFiles(t *testing.T) {
	t.Parallel()
	var bc []cell
	bcNames := "id,diagnosis"
	for _, s := range []string{"mean", "se", "worst"} {
		for _, f := range strings.Fields("radius texture perimeter area smoothness compactness concavity points symmetry fractal_dimension") {
			bcNames += "," + f + "_" + s
			bc = append(bc, lognormal(1, .4, 4))
		}
	}
	bcFile := written(bcNames, ",", 569, append([]cell{whole(8670, 911320502), share(.37, "M", "B")}, bc...)...)
	titanic := written("PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked", ",", 891, from(1), share(.38, "1", "0"), oneOf("1", "2", "3", "3"), fullName, oneOf("male", "female"), sometimes(whole(1, 80), .2, ""), poisson(.5), poisson(.4), ticket, lognormal(3, 1, 4), cabin, sometimes(oneOf("S", "S", "S", "C", "Q"), .01, ""))
	telco := written("customerID,gender,SeniorCitizen,Partner,Dependents,tenure,PhoneService,MultipleLines,InternetService,Contract,PaperlessBilling,PaymentMethod,MonthlyCharges,TotalCharges,Churn", ",", 500, func(i int, r *rand.Rand) string {
		return fmt.Sprintf("%04d-%c%c%c%c%c", r.IntN(10000), 'A'+r.IntN(26), 'A'+r.IntN(26), 'A'+r.IntN(26), 'A'+r.IntN(26), 'A'+r.IntN(26))
	}, oneOf("Male", "Female"), share(.16, "1", "0"), oneOf("Yes", "No"), oneOf("Yes", "No"), whole(0, 72), oneOf("Yes", "No"), oneOf("Yes", "No", "No phone service"), oneOf("DSL", "Fiber optic", "No"), oneOf("Month-to-month", "One year", "Two year"), oneOf("Yes", "No"), oneOf("Electronic check", "Mailed check", "Bank transfer (automatic)", "Credit card (automatic)"), between(18, 118), sometimes(between(18, 8684), .02, " "), share(.27, "Yes", "No"))
	iris := written("SepalLengthCm,SepalWidthCm,PetalLengthCm,PetalWidthCm,Species", ",", 150, normal(5.8, .8, 1), normal(3, .4, 1), normal(9.7, 1.7, 1), normal(1.2, .7, 1), inTurn("Iris-setosa", "Iris-versicolor", "Iris-virginica"))
	reads := func(name, want, file string, obvious bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, checkProposal(t, file, want).Obvious, obvious, "obvious")
		})
	}
	asks := func(name, want, file string) { reads(name, want, file, false) }
	obvious := func(name, want, file string) { reads(name, want, file, true) }

	asks("breast cancer kaggle with trailing comma", "Predict diagnosis (B 349, M 220) from 30 columns; id left out",
		strings.ReplaceAll(bcFile, "\n", ",\n"))
	asks("wdbc.data without header", "Predict x2 (B 349, M 220) from 30 columns; x1 left out",
		func() string { _, r, _ := strings.Cut(bcFile, "\n"); return r }())
	asks("breast-cancer-wisconsin original", "Predict Class (2 273, 4 127) from 4 columns; Sample code number left out; missing median; offers duplicates",
		written("Sample code number,Clump Thickness,Uniformity of Cell Size,Bare Nuclei,Mitoses,Class", ",", 400, whole(60000, 13454352), whole(1, 10), whole(1, 10), sometimes(whole(1, 10), .03, "?"), whole(1, 10), share(.35, "4", "2")))
	asks("same without header", "Predict x6 (2 273, 4 127) from 4 columns; x1 left out; missing median; offers duplicates",
		written("", ",", 400, whole(60000, 13454352), whole(1, 10), whole(1, 10), sometimes(whole(1, 10), .03, "?"), whole(1, 10), share(.35, "4", "2")))
	asks("titanic", "Predict Survived (0 540, 1 351) from 7 columns; PassengerId, Name, Ticket and Cabin left out; missing median",
		titanic)
	asks("telco churn", "Predict Churn (No 365, Yes 135) from 13 columns; customerID left out; missing median",
		telco)
	asks("bank churn", "Predict Exited (0 330, 1 70) from 10 columns; RowNumber, CustomerId and Surname left out",
		written("RowNumber,CustomerId,Surname,CreditScore,Geography,Gender,Age,Tenure,Balance,NumOfProducts,HasCrCard,IsActiveMember,EstimatedSalary,Exited", ",", 400, from(1), whole(15565701, 15815690), oneOf("Hargrave", "Hill", "Onio", "Boni", "Mitchell", "Chu", "Bartlett", "Obinna", "He", "Smith", "H?", "Kay", "Lu", "Bo", "Ng", "Li", "Xu", "Ma", "Hu", "Yu", "Wu", "Yi", "Ho", "Su"), whole(350, 850), oneOf("France", "Spain", "Germany"), oneOf("Male", "Female"), whole(18, 92), whole(0, 10), sometimes(between(0, 250000), .36, "0"), whole(1, 4), share(.7, "1", "0"), share(.5, "1", "0"), between(11, 199992), share(.2, "1", "0")))
	asks("customer hash left income", "Predict left (no 203, yes 97) from 4 columns; customer left out",
		written("customer,age,region,income,visits,left", ",", 300, hash, whole(18, 90), oneOf("north", "south", "east", "west"), whole(12000, 98000), poisson(4), share(.3, "yes", "no")))
	asks("sentinels -999", "Predict alarm (0 223, 1 77) from 5 columns; missing median; fixed missing:-999:temp, missing:-999:humidity, missing:-999:wind",
		written("station,temp,humidity,wind,pollution,alarm", ",", 300, oneOf("A", "B", "C"), sometimes(normal(12, 8, 1), .04, "-999"), sometimes(whole(20, 100), .04, "-999"), sometimes(between(0, 20), .03, "-999.0"), normal(50, 20, 1), share(.25, "1", "0")))
	asks("yes No NO", "Predict response (yes 130, No 70) from 2 columns; fixed spelling:response",
		written("age,dose,response", ",", 200, whole(18, 80), between(0, 5), oneOf("yes", "No", "NO", "no", "Yes", "YES ", " yes")))
	obvious("wide 200 label last nameless words", "Predict tumor_type (PRAD 24, BRCA 16, COAD 16, LUAD 15, KIRC 9) from 199 columns",
		written(numbered("gene", 199)+",tumor_type", ",", 80, append(repeat(199, normal(0, 1, 3)), oneOf("BRCA", "KIRC", "COAD", "LUAD", "PRAD"))...))
	obvious("wide 199 label first", "Predict tumour_class (BRCA 19, COAD 18, PRAD 18, KIRC 14, LUAD 11) from 199 columns",
		written("tumour_class,"+numbered("gene", 199), ",", 80, append([]cell{oneOf("BRCA", "KIRC", "COAD", "LUAD", "PRAD")}, repeat(199, normal(0, 1, 3))...)...))
	asks("label in middle of wide", "Predict outcome (0 72, 1 48) from 180 columns",
		written(numbered("v", 90)+",outcome,"+numbered("w", 90), ",", 120, append(append(repeat(90, normal(0, 1, 3)), share(.4, "1", "0")), repeat(90, normal(0, 1, 3))...)...))
	asks("German Kreditausfall", "Predict Kreditausfall (nein 162, ja 38) from 6 columns; Kunden-ID left out",
		written("Kunden-ID;Alter;Familienstand;Kreditsumme;Zinssatz;Laufzeit;Wohnort;Kreditausfall", ";", 200, whole(100000, 999999), whole(18, 80), oneOf("ledig", "verheiratet", "geschieden"), func(_ int, r *rand.Rand) string {
			return fmt.Sprintf("%d.%03d,%02d", 1+r.IntN(40), r.IntN(1000), r.IntN(100))
		}, func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d,%d %%", 1+r.IntN(9), r.IntN(10)) }, inTurn("12", "24", "36", "48", "60"), oneOf("Köln", "München", "Berlin", "Hamburg"), share(.2, "ja", "nein")))
	asks("Windows-1252 German", "Predict Prüfung bestanden (nein 53, ja 47) from 3 columns",
		latin(written("Größe;Gewicht;Geschlecht;Prüfung bestanden", ";", 100, func(_ int, r *rand.Rand) string { return fmt.Sprintf("1,%02d", 50+r.IntN(50)) }, whole(50, 110), oneOf("männlich", "weiblich"), share(.6, "ja", "nein"))))
	asks("French santé", "Predict malade (non 98, oui 52) from 4 columns; numéro_patient left out",
		written("numéro_patient;âge;sexe;tension;cholestérol;malade", ";", 150, from(1), whole(20, 90), oneOf("H", "F"), whole(90, 180), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d,%d", r.IntN(4), r.IntN(10)) }, share(.4, "oui", "non")))
	asks("French immobilier", "Predict prix (numbers: a regression) from 3 columns",
		written("surface;pieces;ville;prix", ";", 150, whole(20, 200), whole(1, 6), oneOf("Paris", "Lyon", "Lille"), whole(50000, 900000)))
	asks("Spanish clientes", "Predict abandono (no 116, sí 34) from 3 columns; id_cliente left out",
		written("id_cliente,edad,ciudad,saldo,abandono", ",", 150, whole(1000, 99999), whole(18, 80), oneOf("Madrid", "Sevilla"), normal(2000, 900, 2), share(.2, "sí", "no")))
	asks("Spanish vivienda", "Predict precio_venta (numbers: a regression) from 3 columns",
		written("superficie,habitaciones,barrio,precio_venta", ",", 150, whole(30, 200), whole(1, 6), oneOf("Centro", "Norte"), whole(50000, 900000)))
	asks("Dutch", "Predict opgezegd (nee 116, ja 34) from 3 columns; klantnummer left out",
		written("klantnummer;leeftijd;stad;omzet;opgezegd", ";", 150, whole(1000, 99999), whole(18, 80), oneOf("Utrecht", "Delft"), normal(2000, 900, 2), share(.2, "ja", "nee")))
	asks("Polish", "Predict wynik (zdrowy 83, chory 67) from 3 columns; id_pacjenta left out",
		written("id_pacjenta;wiek;plec;cisnienie;wynik", ";", 150, from(1), whole(18, 80), oneOf("K", "M"), whole(90, 180), oneOf("chory", "zdrowy")))
	asks("dates many forms", "Predict returned (No 130, Yes 20) from 2 columns; order_date, ship_date and created_at left out",
		written("order_date,ship_date,created_at,amount,items,returned", ",", 150, dateIn("us"), dateIn("word"), dateIn("t"), lognormal(3, 1, 2), poisson(3), share(.15, "Yes", "No")))
	asks("German dates", "Predict Regen (nein 71, ja 29) from 2 columns; Datum left out",
		written("Datum;Temperatur;Luftfeuchte;Regen", ";", 100, dateIn("de"), normal(10, 8, 1), whole(20, 100), share(.3, "ja", "nein")))
	asks("unix timestamp", "Predict failure (0 176, 1 24) from 2 columns; timestamp and sensor_id left out",
		written("timestamp,sensor_id,vibration,temperature,failure", ",", 200, dateIn("unix"), oneOf("1", "2", "3", "4"), lognormal(0, .3, 3), normal(60, 8, 1), share(.1, "1", "0")))
	asks("currency and percent", "Predict sold_out (N 70, Y 30) from 5 columns",
		written("product,price,discount,units,margin,sold_out", ",", 100, oneOf("pen", "ink", "pad"), func(_ int, r *rand.Rand) string {
			return fmt.Sprintf("\"$%d,%03d.%02d\"", 1+r.IntN(9), r.IntN(1000), r.IntN(100))
		}, func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d%%", r.IntN(50)) }, poisson(20), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%.1f%%", 30*r.Float64()) }, share(.3, "Y", "N")))
	asks("BOM semicolon", "Predict Kündigung (Nein 72, Ja 28) from 2 columns; Kundennummer left out",
		"\ufeff"+written("Kundennummer;Umsatz;Rabatt;Kündigung", ";", 100, whole(10000, 99999), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d,%02d", r.IntN(900), r.IntN(100)) }, func(_ int, r *rand.Rand) string { return fmt.Sprintf("0,%d", r.IntN(9)) }, share(.3, "Ja", "Nein")))
	asks("UTF-16 tab", "Predict Art (Fichte 20, Kiefer 20, Tanne 20) from 2 columns; offers thousands:Länge, thousands:Breite",
		u16(written("Länge\tBreite\tArt", "\t", 60, between(1, 9), between(1, 4), inTurn("Fichte", "Tanne", "Kiefer"))))
	asks("zip codes leading zero", "Predict bought (0 63, 1 37) from 2 columns; zip left out",
		written("zip,income,age,bought", ",", 100, func(_ int, r *rand.Rand) string { return fmt.Sprintf("%05d", r.IntN(99999)) }, whole(20000, 90000), whole(18, 80), share(.4, "1", "0")))
	asks("housing kc", "Predict price (numbers: a regression) from 13 columns; id, date and zipcode left out",
		written("id,date,price,bedrooms,bathrooms,sqft_living,sqft_lot,floors,waterfront,view,condition,grade,yr_built,yr_renovated,zipcode,lat,long", ",", 300, whole(1000102, 990000019), func(_ int, r *rand.Rand) string { return fmt.Sprintf("2014%02d%02dT000000", 5+r.IntN(7), 1+r.IntN(28)) }, whole(75000, 990000), whole(1, 6), inTurn("1", "1.5", "2", "2.25", "2.5"), whole(370, 6000), whole(520, 90000), inTurn("1", "2", "1.5", "2"), share(.03, "1", "0"), whole(0, 4), whole(1, 5), whole(4, 13), whole(1900, 2015), sometimes(whole(1950, 2015), .95, "0"), whole(98001, 98199), between(47.1, 47.8), between(-122.5, -121.3)))
	asks("ames", "Predict SalePrice (numbers: a regression) from 10 columns; Id, Alley and PoolQC left out; missing median",
		written("Id,MSSubClass,MSZoning,LotFrontage,LotArea,Street,Alley,Neighborhood,OverallQual,YearBuilt,GrLivArea,PoolQC,SaleCondition,SalePrice", ",", 300, from(1), oneOf("20", "60", "50", "120"), oneOf("RL", "RM", "FV"), sometimes(whole(20, 150), .18, "NA"), whole(1300, 20000), share(.99, "Pave", "Grvl"), sometimes(oneOf("Grvl", "Pave"), .93, "NA"), oneOf("CollgCr", "Veenker", "Crawfor", "NoRidge", "Mitchel", "Somerst"), whole(1, 10), whole(1872, 2010), whole(334, 5642), sometimes(oneOf("Ex", "Fa"), .99, "NA"), oneOf("Normal", "Abnorml", "Partial"), whole(34900, 755000)))
	asks("boston header", "Predict medv (numbers: a regression) from 13 columns",
		written("crim,zn,indus,chas,nox,rm,age,dis,rad,tax,ptratio,black,lstat,medv", ",", 200, lognormal(-1, 2, 5), sometimes(whole(10, 100), .7, "0"), between(0, 27), share(.07, "1", "0"), between(.3, .9), normal(6.2, .7, 3), between(2, 100), between(1, 12), oneOf("1", "2", "3", "4", "5", "24"), whole(187, 711), between(12, 22), between(0, 397), between(1, 38), between(5, 50)))
	asks("two candidate labels", "Predict outcome (recovered 113, died 37) from 3 columns",
		written("age,bp,diagnosis,outcome", ",", 150, whole(18, 80), whole(90, 180), oneOf("flu", "cold", "none"), share(.2, "died", "recovered")))
	asks("target + target name (sklearn frame)", "Predict target (0 30, 1 30, 2 30) from 2 columns; target_name left out; fixed leave:target_name; offers duplicates",
		written("sepal length (cm),sepal width (cm),target,target_name", ",", 90, normal(5.8, .8, 1), normal(3, .4, 1), inTurn("0", "1", "2"), inTurn("setosa", "versicolor", "virginica")))
	asks("ids as floats", "Predict group (control 51, case 49) from 2 columns; patient_id left out",
		written("patient_id,age,marker,group", ",", 100, func(i int, r *rand.Rand) string { return fmt.Sprintf("%d.0", 10000+i*7) }, whole(18, 80), lognormal(1, .5, 3), oneOf("case", "control")))
	asks("pandas index", "Predict cls (b 58, a 42) from 2 columns; column 1 left out",
		written(",x,y,cls", ",", 100, from(0), normal(0, 1, 3), normal(0, 1, 3), oneOf("a", "b")))
	asks("pandas index shuffled", "Predict cls (b 58, a 42) from 2 columns; column 1 left out",
		written(",x,y,cls", ",", 100, func(i int, _ *rand.Rand) string { return fmt.Sprint(i * 37 % 100) }, normal(0, 1, 3), normal(0, 1, 3), oneOf("a", "b")))
	asks("JSON nested data", "Predict Churn (No 66, Yes 33) from 13 columns; customerID left out; missing median; fixed words:TotalCharges",
		`{"data": `+recordsOf(telco[:strings.Index(telco, "\n")+1]+strings.Join(strings.SplitAfter(telco, "\n")[1:100], ""))+"}")
	asks("JSON results wrapper with meta", "Predict label (b 32, a 28) from 2 columns; id left out",
		`{"count": 60, "next": null, "results": `+recordsOf(written("id,size,colour,label", ",", 60, from(1), between(0, 1), oneOf("red", "blue"), oneOf("a", "b")))+"}")
	obvious("JSON columns", "Predict bought (yes 40, no 20) from 2 columns; offers duplicates",
		func() string {
			var a, b, l []string
			for i := range 60 {
				a = append(a, fmt.Sprint(i*i%17))
				b = append(b, fmt.Sprintf("%.2f", float64(i%13)/3))
				l = append(l, []string{`"yes"`, `"no"`}[i*7%3%2])
			}
			return `{"a":[` + strings.Join(a, ",") + `],"b":[` + strings.Join(b, ",") + `],"bought":[` + strings.Join(l, ",") + `]}`
		}())
	obvious("pandas to_json columns", "Predict bought (yes 40, no 20) from 1 column; offers duplicates",
		func() string {
			var a, l []string
			for i := range 60 {
				a = append(a, fmt.Sprintf("\"%d\":%d", i, i*i%17))
				l = append(l, fmt.Sprintf("\"%d\":\"%s\"", i, []string{"yes", "no"}[i*7%3%2]))
			}
			return `{"a":{` + strings.Join(a, ",") + `},"bought":{` + strings.Join(l, ",") + `}}`
		}())
	obvious("pandas to_json split", "Predict bought (yes 40, no 20) from 2 columns; offers duplicates",
		func() string {
			var d []string
			for i := range 60 {
				d = append(d, fmt.Sprintf("[%d,%.2f,\"%s\"]", i*i%17, float64(i%13)/3, []string{"yes", "no"}[i*7%3%2]))
			}
			return `{"columns":["a","b","bought"],"index":[` + strings.Join(strings.Fields(strings.Repeat("0 ", 60)), ",") + `],"data":[` + strings.Join(d, ",") + `]}`
		}())
	obvious("JSON array of arrays", "Predict label (a 5, b 5) from 2 columns",
		`[["x","y","label"],[1,2,"a"],[2,3,"b"],[3,1,"a"],[5,2,"b"],[1,1,"a"],[2,2,"b"],[4,4,"a"],[5,5,"b"],[6,7,"a"],[3,6,"b"]]`)
	asks("JSON lines", "Predict label (b 32, a 28) from 2 columns",
		strings.ReplaceAll(strings.Trim(recordsOf(written("size,colour,label", ",", 60, between(0, 1), oneOf("red", "blue"), oneOf("a", "b"))), "[]"), "},\n", "}\n"))
	obvious("JSON records nested objects", "Predict label (u 2, v 2) from 2 columns",
		`[{"a":{"x":1,"y":2},"label":"u"},{"a":{"x":3,"y":2},"label":"v"},{"a":{"x":1,"y":5},"label":"u"},{"a":{"x":7,"y":2},"label":"v"}]`)
	obvious("gz", "Predict Species (Iris-setosa 50, Iris-versicolor 50, Iris-virginica 50) from 4 columns",
		gz(iris))
	asks("R write.table", "Predict mpg (numbers: a regression) from 3 columns; column 1 left out",
		written("\"mpg\" \"cyl\" \"disp\" \"am\"", "", 32, func(i int, _ *rand.Rand) string {
			return fmt.Sprintf("\"Car %d\" %.1f %d %.1f %d", i, 10+float64(i*7%23), []int{4, 6, 8}[i%3], 70+float64(i*37%401), i*5%2)
		}))
	asks("R iris row names numbers", "Predict Species (setosa 30, virginica 30) from 2 columns; column 1 left out",
		written("\"Sepal.Length\" \"Petal.Width\" \"Species\"", "", 60, func(i int, _ *rand.Rand) string {
			return fmt.Sprintf("\"%d\" %.1f %.1f \"%s\"", i+1, 4+float64(i%23)/10, float64(i%13)/10, []string{"setosa", "virginica"}[i/30])
		}))
	asks("write.csv with row names", "Predict Species (setosa 30, virginica 30) from 2 columns; column 1 left out",
		written("\"\",\"Sepal.Length\",\"Petal.Width\",\"Species\"", "", 60, func(i int, _ *rand.Rand) string {
			return fmt.Sprintf("\"%d\",%.1f,%.1f,\"%s\"", i+1, 4+float64(i%23)/10, float64(i%13)/10, []string{"setosa", "virginica"}[i/30])
		}))
	obvious("spaces aligned", "Predict sex (m 40, f 20) from 2 columns; offers duplicates",
		written("height  weight   sex", "", 60, func(i int, _ *rand.Rand) string {
			return fmt.Sprintf("%6.1f  %6.1f     %s", 150+float64(i*7%40), 50+float64(i*11%40), []string{"m", "f"}[i*7%3%2])
		}))
	asks("quoted newlines text", "Predict label (pos 51, neg 29) from 1 column; id and review left out",
		written("id,review,stars,label", ",", 80, from(1), func(i int, r *rand.Rand) string { return strings.Replace(sentence(i, r), " ", "\n", 2) }, whole(1, 5), oneOf("pos", "neg")))
	asks("single text + label (sms)", "Predict v1 (ham 169, spam 31) from the strings in v2",
		written("v1,v2,,,", ",", 200, share(.13, "spam", "ham"), sentence, inTurn(""), inTurn(""), inTurn("")))
	asks("text tsv no header (sms)", "Predict x1 (ham 169, spam 31) from the strings in x2",
		written("", "\t", 200, share(.13, "spam", "ham"), func(i int, r *rand.Rand) string { return strings.Trim(sentence(i, r), "\"") }))
	asks("reviews", "Predict sentiment (negative 103, positive 97) from the strings in review",
		written("review,sentiment", ",", 200, sentence, oneOf("positive", "negative")))
	asks("tweets", "Predict airline_sentiment (negative 69, neutral 66, positive 65) from 1 column; id, date, user and text left out",
		written("id,date,user,text,airline_sentiment,retweet_count", ",", 200, whole(567588278, 569588278), dateIn("time"), func(_ int, r *rand.Rand) string { return fmt.Sprint("user", r.IntN(150)) }, sentence, oneOf("neutral", "positive", "negative"), poisson(.1)))
	obvious("all numeric 0/1 first", "Predict y (1 54, 0 46) from 3 columns",
		written("y,x1,x2,x3", ",", 100, share(.5, "1", "0"), normal(0, 1, 3), normal(0, 1, 3), normal(0, 1, 3)))
	obvious("0/1 first no header", "Predict label (1 54, 0 46) from 3 columns",
		written("", ",", 100, share(.5, "1", "0"), normal(0, 1, 3), normal(0, 1, 3), normal(0, 1, 3)))
	obvious("MNIST label first", "Predict label (1 27, 2 26, 7 23, 4 21, 3 19, 0 17, 4 more) from 64 columns",
		written("label,"+numbered("pixel", 64), ",", 200, append([]cell{whole(0, 9)}, repeat(64, sometimes(whole(1, 255), .7, "0"))...)...))
	asks("digits UCI no header", "Predict x65 (8 25, 9 24, 0 22, 1 22, 3 21, 4 18, 4 more) from 64 columns",
		written("", ",", 200, append(repeat(64, whole(0, 16)), whole(0, 9))...))
	asks("survey likert words", "Predict Overall satisfaction (Dissatisfied 51, Neutral 38, Satisfied 31) from 5 columns; Timestamp left out",
		written("Timestamp,Age,Gender,The course was well organised,The pace was right,I would recommend it,Overall satisfaction", ",", 120, dateIn("time"), oneOf("18-24", "25-34", "35-44"), oneOf("Female", "Male", "Prefer not to say"), oneOf("Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"), oneOf("Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"), oneOf("Yes", "No"), oneOf("Satisfied", "Neutral", "Dissatisfied")))
	asks("survey likert numbers", "Predict Q5 (2 30, 1 25, 3 23, 5 22, 4 20) from 4 columns; offers duplicates",
		written("Q1,Q2,Q3,Q4,Q5", ",", 120, whole(1, 5), whole(1, 5), whole(1, 5), whole(1, 5), whole(1, 5)))
	asks("star ratings", "Predict rating (5 51, 1 44, 4 38, 3 35, 2 32) from 2 columns; user_id and item_id left out",
		written("user_id,item_id,price,category,rating", ",", 200, whole(1, 900), whole(1, 1700), between(1, 99), oneOf("toys", "books"), whole(1, 5)))
	obvious("wine quality", "Predict quality (5 130, 6 78, 4 52, 3 51, 8 47, 7 42) from 10 columns",
		written("fixed acidity;volatile acidity;citric acid;residual sugar;chlorides;free sulfur dioxide;density;pH;sulphates;alcohol;quality", ";", 400, normal(8, 1, 1), normal(.5, .1, 2), between(0, 1), lognormal(1, .5, 1), normal(.08, .02, 3), whole(1, 70), normal(.997, .002, 5), normal(3.3, .1, 2), normal(.6, .1, 2), normal(10, 1, 1), oneOf("3", "4", "5", "5", "5", "6", "6", "7", "8")))
	asks("wine with header names", "Predict Wine (1 60, 2 59, 3 59) from 4 columns",
		written("Wine,Alcohol,Malic.acid,Ash,Proline", ",", 178, inTurn("1", "2", "3"), normal(13, .8, 2), normal(2, 1, 2), normal(2.3, .3, 2), whole(278, 1680)))
	obvious("wine sklearn", "Predict class_label (class_0 60, class_1 59, class_2 59) from 4 columns",
		written("alcohol,malic_acid,ash,proline,class_label", ",", 178, normal(13, .8, 2), normal(2, 1, 2), normal(2.3, .3, 2), whole(278, 1680), inTurn("class_0", "class_1", "class_2")))
	asks("missing mix", "Predict status (faulty 78, ok 72) from 6 columns; missing median; fixed words:c, words:f",
		written("a,b,c,d,e,f,status", ",", 150, sometimes(normal(0, 1, 2), .1, "NA"), sometimes(normal(0, 1, 2), .1, "?"), sometimes(normal(0, 1, 2), .1, "-"), sometimes(normal(0, 1, 2), .1, "null"), sometimes(normal(0, 1, 2), .1, "n/a"), sometimes(normal(0, 1, 2), .1, "."), oneOf("ok", "faulty")))
	asks("missing labels", "Predict label (b 59, a 56) from 2 columns; missing drop",
		written("x,y,label", ",", 150, normal(0, 1, 2), normal(0, 1, 2), sometimes(oneOf("a", "b"), .2, "?")))
	asks("credit-g arff-like quotes", "Predict class (good 140, bad 60) from 6 columns",
		written("checking_status,duration,credit_history,purpose,credit_amount,foreign_worker,class", ",", 200, oneOf("'<0'", "'0<=X<200'", "'no checking'"), whole(4, 72), oneOf("'existing paid'", "'critical/other existing credit'"), oneOf("radio/tv", "education"), whole(250, 18424), share(.96, "yes", "no"), share(.7, "good", "bad")))
	obvious("heart uci", "Predict target (1 184, 0 119) from 13 columns",
		written("age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target", ",", 303, whole(29, 77), share(.68, "1", "0"), whole(0, 3), whole(94, 200), whole(126, 564), share(.15, "1", "0"), whole(0, 2), whole(71, 202), share(.33, "1", "0"), between(0, 6), whole(0, 2), whole(0, 4), whole(0, 3), share(.54, "1", "0")))
	asks("heart cleveland num", "Predict num (0 84, 3 64, 4 60, 1 48, 2 47) from 9 columns; missing median",
		written("age,sex,cp,trestbps,chol,thalach,oldpeak,ca,thal,num", ",", 303, whole(29, 77), share(.68, "1", "0"), whole(1, 4), whole(94, 200), whole(126, 564), whole(71, 202), between(0, 6), sometimes(whole(0, 3), .01, "?"), inTurn("3", "6", "7"), oneOf("0", "0", "1", "2", "3", "4")))
	asks("pima", "Predict Outcome (0 196, 1 104) from 8 columns; offers missing:0:BloodPressure",
		written("Pregnancies,Glucose,BloodPressure,SkinThickness,Insulin,BMI,DiabetesPedigreeFunction,Age,Outcome", ",", 300, poisson(3.8), whole(44, 199), sometimes(whole(24, 122), .05, "0"), sometimes(whole(7, 99), .3, "0"), sometimes(whole(14, 846), .48, "0"), normal(32, 7, 1), between(.08, 2.4), whole(21, 81), share(.35, "1", "0")))
	asks("penguins", "Predict species (Gentoo 122, Chinstrap 116, Adelie 106) from 7 columns; missing median",
		written("species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year", ",", 344, oneOf("Adelie", "Gentoo", "Chinstrap"), oneOf("Torgersen", "Biscoe", "Dream"), sometimes(normal(44, 5, 1), .01, "NA"), sometimes(normal(17, 2, 1), .01, "NA"), whole(172, 231), whole(2700, 6300), sometimes(oneOf("male", "female"), .03, "NA"), oneOf("2007", "2008", "2009")))
	asks("mushrooms", "Predict class (p 207, e 193) from 5 columns; offers duplicates",
		written("class,cap-shape,cap-surface,odor,gill-color,habitat", ",", 400, oneOf("e", "p"), oneOf("x", "b", "s", "f"), oneOf("s", "y", "f"), oneOf("a", "l", "n", "p"), oneOf("k", "n", "g"), oneOf("u", "g", "m", "d")))
	asks("car evaluation no header", "Predict x7 (vgood 80, good 76, unacc 75, acc 69) from 6 columns; offers duplicates",
		written("", ",", 300, oneOf("vhigh", "high", "med", "low"), oneOf("vhigh", "high", "med", "low"), oneOf("2", "3", "4", "5more"), oneOf("2", "4", "more"), oneOf("small", "med", "big"), oneOf("low", "med", "high"), oneOf("unacc", "acc", "good", "vgood")))
	asks("adult no header", "Predict label (<=50K 233, >50K 67) from 11 columns",
		written("", ", ", 300, whole(17, 90), oneOf("State-gov", "Private", "Self-emp-not-inc"), whole(12285, 1484705), oneOf("Bachelors", "HS-grad", "11th"), whole(1, 16), oneOf("Never-married", "Divorced"), oneOf("White", "Black"), oneOf("Male", "Female"), sometimes(whole(100, 99998), .9, "0"), whole(1, 99), oneOf("United-States", "Cuba"), share(.25, ">50K", "<=50K")))
	asks("abalone no header", "Predict label (M 110, I 99, F 91) from 5 columns",
		written("", ",", 300, oneOf("M", "F", "I"), between(.1, .8), between(.1, .6), between(0, 1), between(0, 2.8), whole(1, 29)))
	asks("auto mpg no header fixed width", "Predict x8 (1 39, 2 33, 3 28) from 7 columns; x9 left out",
		written("", "", 100, func(i int, r *rand.Rand) string {
			return fmt.Sprintf("%4.1f   %d   %5.1f      %5.1f      %4.0f.      %4.1f   %d  %d\t\"car %d\"", 9+35*r.Float64(), []int{4, 6, 8}[r.IntN(3)], 70+380*r.Float64(), 46+180*r.Float64(), 1600+3500*r.Float64(), 8+16*r.Float64(), 70+r.IntN(13), 1+r.IntN(3), i)
		}))
	asks("glass with id no header", "Predict x7 (6 45, 5 43, 1 37, 3 32, 2 29, 7 28) from 5 columns; x1 left out",
		written("", ",", 214, from(1), normal(1.518, .003, 5), normal(13, .8, 2), between(0, 4), between(.3, 3.5), normal(72, .7, 2), oneOf("1", "2", "3", "5", "6", "7")))
	obvious("sonar no header", "Predict label (M 105, R 103) from 60 columns",
		written("", ",", 208, append(repeat(60, between(0, 1)), oneOf("R", "M"))...))
	asks("ionosphere", "Predict x6 (g 130, b 70) from 4 columns; x2 left out; fixed leave:x2",
		written("", ",", 200, share(.9, "1", "0"), inTurn("0"), between(-1, 1), between(-1, 1), between(-1, 1), share(.64, "g", "b")))
	asks("loan prediction", "Predict Loan_Status (Y 204, N 96) from 11 columns; Loan_ID left out; missing median",
		written("Loan_ID,Gender,Married,Dependents,Education,Self_Employed,ApplicantIncome,CoapplicantIncome,LoanAmount,Loan_Amount_Term,Credit_History,Property_Area,Loan_Status", ",", 300, func(i int, r *rand.Rand) string { return fmt.Sprintf("LP%06d", 1000+i*3) }, sometimes(oneOf("Male", "Female"), .02, ""), oneOf("Yes", "No"), oneOf("0", "1", "2", "3+", "0"), oneOf("Graduate", "Not Graduate"), oneOf("Yes", "No"), whole(150, 81000), between(0, 41667), sometimes(whole(9, 700), .04, ""), sometimes(oneOf("360", "180", "480"), .02, ""), sometimes(share(.84, "1", "0"), .08, ""), oneOf("Urban", "Rural", "Semiurban"), share(.69, "Y", "N")))
	asks("stroke", "Predict stroke (0 383, 1 17) from 10 columns; id left out; missing median",
		written("id,gender,age,hypertension,heart_disease,ever_married,work_type,Residence_type,avg_glucose_level,bmi,smoking_status,stroke", ",", 400, whole(67, 72940), oneOf("Male", "Female"), whole(1, 82), share(.1, "1", "0"), share(.05, "1", "0"), oneOf("Yes", "No"), oneOf("Private", "Self-employed", "Govt_job", "children"), oneOf("Urban", "Rural"), between(55, 271), sometimes(normal(28, 7, 1), .04, "N/A"), oneOf("never smoked", "formerly smoked", "smokes", "Unknown"), share(.05, "1", "0")))
	asks("insurance", "Predict charges (numbers: a regression) from 6 columns",
		written("age,sex,bmi,children,smoker,region,charges", ",", 300, whole(18, 64), oneOf("male", "female"), normal(30, 6, 2), whole(0, 5), share(.2, "yes", "no"), oneOf("southwest", "southeast"), lognormal(9, .8, 4)))
	asks("bike sharing", "Predict cnt (numbers: a regression) from 13 columns; instant and dteday left out",
		written("instant,dteday,season,yr,mnth,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed,casual,registered,cnt", ",", 300, from(1), dateIn("iso"), whole(1, 4), share(.5, "1", "0"), whole(1, 12), share(.03, "1", "0"), whole(0, 6), share(.7, "1", "0"), whole(1, 3), between(0, 1), between(0, 1), between(0, 1), between(0, .5), whole(2, 3410), whole(20, 6946), whole(22, 8714)))
	asks("diamonds", "Predict price (numbers: a regression) from 9 columns",
		written("carat,cut,color,clarity,depth,table,price,x,y,z", ",", 300, between(.2, 3), oneOf("Ideal", "Premium", "Good"), oneOf("D", "E", "F"), oneOf("SI1", "VS2"), normal(61, 1, 1), whole(53, 65), whole(326, 18823), between(3, 9), between(3, 9), between(2, 6)))
	asks("mall customers", "Predict Spending Score (1-100) (numbers: a regression) from 3 columns; CustomerID left out",
		written("CustomerID,Gender,Age,Annual Income (k$),Spending Score (1-100)", ",", 200, from(1), oneOf("Male", "Female"), whole(18, 70), whole(15, 137), whole(1, 99)))
	asks("tips", "Predict size (4 48, 2 44, 1 43, 6 41, 5 35, 3 33) from 6 columns",
		written("total_bill,tip,sex,smoker,day,time,size", ",", 244, between(3, 50), between(1, 10), oneOf("Male", "Female"), oneOf("Yes", "No"), oneOf("Sun", "Sat", "Thur", "Fri"), oneOf("Dinner", "Lunch"), whole(1, 6)))
	asks("phishing", "Predict Result (-1 151, 1 149) from 4 columns; offers duplicates",
		written("having_IP_Address,URL_Length,Shortining_Service,SSLfinal_State,Result", ",", 300, oneOf("-1", "1"), oneOf("-1", "0", "1"), oneOf("-1", "1"), oneOf("-1", "0", "1"), oneOf("-1", "1")))
	asks("student exam", "Predict Passed (TRUE 24, FALSE 16) from 3 columns; Name left out",
		written("Name,Math,Reading,Writing,Passed", ",", 40, fullName, whole(20, 100), whole(20, 100), whole(20, 100), share(.7, "TRUE", "FALSE")))
	asks("student exam Total row", "Predict Passed (yes 8, no 4) from 2 columns; Name left out; fixed totals",
		written("Name,Math,Reading,Passed", ",", 12, fullName, whole(20, 100), whole(20, 100), inTurn("yes", "no", "yes"))+"Total,720,713,\n")
	asks("total only with numbers", "Predict won (no 10, yes 10) from 3 columns; fixed totals",
		written("region,q1,q2,won", ",", 20, oneOf("N", "S", "W"), whole(5, 50), whole(5, 50), oneOf("yes", "no"))+"Total,600,590,\n")
	obvious("emails spam numeric", "Predict spam (0 125, 1 75) from 55 columns",
		written(numbered("word_freq_", 54)+",capital_run_length_average,spam", ",", 200, append(repeat(55, sometimes(between(0, 4), .7, "0")), share(.4, "1", "0"))...))
	asks("seeds", "Predict x5 (1 70, 2 70, 3 70) from 4 columns",
		written("", "", 210, func(i int, r *rand.Rand) string {
			return fmt.Sprintf("%.2f\t%.2f\t%.4f\t\t%.3f\t%d", 11+9*r.Float64(), 12+5*r.Float64(), .8+.1*r.Float64(), 5+r.Float64(), 1+i/70)
		}))
	asks("thyroid words t/f", "Predict binaryClass (P 273, N 27) from 6 columns; missing median",
		written("age,sex,on thyroxine,sick,TSH,T3,binaryClass", ",", 300, whole(1, 94), sometimes(oneOf("M", "F"), .04, "?"), oneOf("t", "f"), share(.04, "t", "f"), sometimes(lognormal(1, 1, 2), .1, "?"), sometimes(normal(2, .8, 1), .2, "?"), share(.92, "P", "N")))
	asks("latitude longitude crime", "Predict Category (VANDALISM 86, FRAUD 73, ASSAULT 71, LARCENY/THEFT 70) from 3 columns; Dates and Address left out",
		written("Dates,Category,PdDistrict,Address,X,Y", ",", 300, dateIn("time"), oneOf("ASSAULT", "LARCENY/THEFT", "VANDALISM", "FRAUD"), oneOf("NORTHERN", "PARK"), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d Block of OAK ST", 100*r.IntN(40)) }, between(-122.5, -122.3), between(37.7, 37.8)))
	asks("regression target with id", "Predict target (numbers: a regression) from 10 columns; id left out",
		written("id,"+numbered("cont", 10)+",target", ",", 300, append(append([]cell{from(0)}, repeat(10, between(0, 1))...), normal(8, .7, 6))...))
	asks("kaggle binary target 2nd", "Predict target (0 174, 1 26) from 60 columns; ID_code left out",
		written("ID_code,target,"+numbered("var_", 60), ",", 200, append([]cell{func(i int, _ *rand.Rand) string { return fmt.Sprint("train_", i) }, share(.1, "1", "0")}, repeat(60, normal(5, 4, 4))...)...))
	asks("machine failure", "Predict Machine failure (0 388, 1 12) from 6 columns; UDI and Product ID left out",
		written("UDI,Product ID,Type,Air temperature [K],Torque [Nm],Tool wear [min],Machine failure,TWF,HDF", ",", 400, from(1), func(i int, r *rand.Rand) string { return fmt.Sprintf("%c%d", "LMH"[r.IntN(3)], 14860+i) }, oneOf("L", "M", "H"), normal(300, 2, 1), normal(40, 10, 1), whole(0, 253), share(.04, "1", "0"), share(.01, "1", "0"), share(.01, "1", "0")))
	asks("fuel decimal comma prices", "Predict Verbrauch (numbers: a regression) from 2 columns; Modell left out",
		written("Modell;Hubraum;Leistung;Verbrauch", ";", 60, func(i int, _ *rand.Rand) string { return fmt.Sprint("Typ ", i) }, whole(900, 5000), whole(40, 400), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d,%d", 4+r.IntN(9), r.IntN(10)) }))
	asks("nutrition grade letters", "Predict nutriscore (d 34, a 32, c 29, e 29, b 26) from 4 columns; product_name left out",
		written("product_name,energy,fat,sugar,salt,nutriscore", ",", 150, func(i int, _ *rand.Rand) string { return fmt.Sprint("Product ", i) }, whole(10, 900), between(0, 60), between(0, 90), between(0, 5), oneOf("a", "b", "c", "d", "e")))
	obvious("columns: x y class-less points with group", "Predict group (1 30, 2 30, 3 30) from 2 columns",
		written("x,y,group", ",", 90, normal(0, 1, 3), normal(0, 1, 3), inTurn("1", "2", "3")))
	asks("constant and empty", "Predict target (A 45, B 45) from 2 columns; id, const and empty left out; fixed leave:const",
		written("id,a,b,const,empty,target", ",", 90, from(1), normal(0, 1, 3), normal(0, 1, 3), inTurn("5"), inTurn(""), share(.5, "A", "B")))
	asks("Yes/No many survey, named label first col", "Predict diabetes (No 115, Yes 35) from 4 columns; offers duplicates",
		written("diabetes,smoker,sports,alcohol,bmi", ",", 150, share(.2, "Yes", "No"), oneOf("Yes", "No"), oneOf("Yes", "No"), oneOf("Yes", "No"), normal(26, 4, 1)))
	asks("rating label reg float", "Predict imdb_rating (numbers: a regression) from 3 columns; movie left out",
		written("movie,budget,runtime,genre,imdb_rating", ",", 150, func(i int, _ *rand.Rand) string { return fmt.Sprint("Movie ", i) }, whole(1, 300), whole(70, 200), oneOf("Drama", "Action"), between(2, 9)))
	asks("class label with underscore first plus filename", "Predict label (jazz 42, rock 35, blues 23) from 4 columns; filename left out",
		written("filename,chroma,rmse,tempo,mfcc1,label", ",", 100, func(i int, _ *rand.Rand) string { return fmt.Sprintf("blues.%05d.wav", i) }, between(0, 1), between(0, 1), between(60, 200), normal(-100, 50, 2), oneOf("blues", "rock", "jazz")))
	asks("HR left", "Predict left (0 228, 1 72) from 9 columns",
		written("satisfaction_level,last_evaluation,number_project,average_montly_hours,time_spend_company,Work_accident,left,promotion_last_5years,sales,salary", ",", 300, between(0, 1), between(0, 1), whole(2, 7), whole(96, 310), whole(2, 10), share(.14, "1", "0"), share(.24, "1", "0"), share(.02, "1", "0"), oneOf("sales", "technical", "support", "IT"), oneOf("low", "medium", "high")))
	asks("credit card default", "Predict default.payment.next.month (0 238, 1 62) from 8 columns; ID left out",
		written("ID,LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,BILL_AMT1,PAY_AMT1,default.payment.next.month", ",", 300, from(1), whole(10000, 500000), oneOf("1", "2"), oneOf("1", "2", "3", "4"), oneOf("1", "2", "3"), whole(21, 75), whole(-2, 8), whole(-9000, 300000), whole(0, 90000), share(.22, "1", "0")))
	asks("fraud two flags", "Predict isFraud (0 275, 1 25) from 4 columns; nameOrig, nameDest and isFlaggedFraud left out; fixed leave:isFlaggedFraud",
		written("step,type,amount,nameOrig,oldbalanceOrg,nameDest,isFraud,isFlaggedFraud", ",", 300, whole(1, 743), oneOf("PAYMENT", "TRANSFER", "CASH_OUT"), lognormal(9, 2, 2), func(_ int, r *rand.Rand) string { return fmt.Sprint("C", 1000000000+r.IntN(999999999)) }, lognormal(9, 2, 2), func(_ int, r *rand.Rand) string { return fmt.Sprint("M", 1000000000+r.IntN(999999999)) }, share(.1, "1", "0"), inTurn("0")))
	asks("weather AUS", "Predict RainTomorrow (No 234, Yes 60) from 7 columns; Date left out; missing median",
		written("Date,Location,MinTemp,MaxTemp,Rainfall,WindGustDir,Humidity9am,RainToday,RainTomorrow", ",", 300, dateIn("iso"), oneOf("Albury", "Sydney", "Perth"), sometimes(normal(12, 6, 1), .01, "NA"), normal(23, 7, 1), sometimes(lognormal(0, 1, 1), .5, "0"), sometimes(oneOf("W", "WNW", "N", "S", "E"), .07, "NA"), whole(10, 100), sometimes(oneOf("No", "Yes"), .02, "NA"), sometimes(share(.22, "Yes", "No"), .02, "NA")))
	asks("hotel bookings", "Predict is_canceled (0 181, 1 119) from 10 columns; reservation_status_date left out",
		written("hotel,is_canceled,lead_time,arrival_date_year,arrival_date_month,adults,children,meal,country,adr,reservation_status,reservation_status_date", ",", 300, oneOf("Resort Hotel", "City Hotel"), share(.37, "1", "0"), whole(0, 500), oneOf("2015", "2016", "2017"), oneOf("July", "August", "May"), whole(1, 3), whole(0, 2), oneOf("BB", "HB"), oneOf("PRT", "GBR", "ESP"), lognormal(4.5, .4, 2), oneOf("Check-Out", "Canceled", "No-Show"), dateIn("iso")))
	asks("heart disease first", "Predict HeartDisease (No 275, Yes 25) from 6 columns",
		written("HeartDisease,BMI,Smoking,AlcoholDrinking,Stroke,SleepTime,GenHealth", ",", 300, share(.09, "Yes", "No"), normal(28, 6, 2), oneOf("Yes", "No"), oneOf("Yes", "No"), share(.04, "Yes", "No"), whole(3, 12), oneOf("Very good", "Good", "Fair", "Poor")))
	asks("golf", "Predict play (yes 9, no 5) from 4 columns",
		"outlook,temperature,humidity,windy,play\nsunny,85,85,FALSE,no\nsunny,80,90,TRUE,no\novercast,83,86,FALSE,yes\nrainy,70,96,FALSE,yes\nrainy,68,80,FALSE,yes\nrainy,65,70,TRUE,no\novercast,64,65,TRUE,yes\nsunny,72,95,FALSE,no\nsunny,69,70,FALSE,yes\nrainy,75,80,FALSE,yes\nsunny,75,70,TRUE,yes\novercast,72,90,TRUE,yes\novercast,81,75,FALSE,yes\nrainy,71,91,TRUE,no\n")
	asks("fruits", "Predict fruit_label (1 15, 2 15, 3 15, 4 15) from 5 columns; fruit_name left out; fixed leave:fruit_name",
		written("fruit_label\tfruit_name\tfruit_subtype\tmass\twidth\theight\tcolor_score", "\t", 60, inTurn("1", "2", "3", "4"), inTurn("apple", "mandarin", "orange", "lemon"), oneOf("granny_smith", "braeburn", "spanish", "unknown"), whole(80, 360), between(5, 9), between(4, 10), between(.5, .95)))
	asks("zoo", "Predict class_type (5 22, 7 20, 6 17, 1 12, 3 11, 2 9, 4 9) from 4 columns; animal_name left out",
		written("animal_name,hair,feathers,eggs,legs,class_type", ",", 100, func(i int, _ *rand.Rand) string { return fmt.Sprint("beast", i) }, share(.4, "1", "0"), share(.2, "1", "0"), share(.5, "1", "0"), oneOf("0", "2", "4", "6", "8"), whole(1, 7)))
	asks("energy two targets", "Predict Y2 (numbers: a regression) from 5 columns",
		written("X1,X2,X3,X6,Y1,Y2", ",", 200, between(.6, 1), between(500, 800), between(245, 416), whole(2, 5), between(6, 43), between(10, 48)))
	asks("concrete", "Predict Concrete compressive strength(MPa, megapascals) (numbers: a regression) from 3 columns",
		written("Cement (component 1)(kg in a m^3 mixture),Water  (component 4)(kg in a m^3 mixture),Age (day),\"Concrete compressive strength(MPa, megapascals) \"", ",", 200, between(100, 540), between(120, 250), oneOf("3", "7", "28", "90"), between(2, 82)))
	asks("ecoli", "Predict x7 (cp 35, im 34, pp 31) from 3 columns; x1, x4 and x5 left out; fixed leave:x4, leave:x5",
		written("", "", 100, func(i int, r *rand.Rand) string {
			return fmt.Sprintf("PROT%d_ECOLI  %.2f  %.2f  0.48  0.50  %.2f   %s", i, r.Float64(), r.Float64(), r.Float64(), []string{"cp", "im", "pp"}[r.IntN(3)])
		}))
	obvious("banknote", "Predict label (0 108, 1 92) from 4 columns",
		written("", ",", 200, normal(0, 3, 4), normal(2, 5, 4), normal(1, 4, 4), normal(-1, 2, 4), share(.44, "1", "0")))
	asks("stock", "Predict Volume (numbers: a regression) from 4 columns; Date left out",
		written("Date,Open,High,Low,Close,Volume", ",", 200, dateIn("iso"), between(90, 110), between(90, 110), between(90, 110), between(90, 110), whole(100000, 900000)))
	asks("kaggle trailing unnamed", "Predict diagnosis (B 54, M 46) from 2 columns; id and Unnamed: 32 left out",
		written("id,x,y,diagnosis,Unnamed: 32", ",", 100, whole(1000, 99999), normal(0, 1, 3), normal(0, 1, 3), oneOf("M", "B"), inTurn("")))
	asks("iris with Id", "Predict Species (Iris-setosa 30, Iris-versicolor 30, Iris-virginica 30) from 2 columns; Id left out",
		written("Id,SepalLengthCm,PetalLengthCm,Species", ",", 90, from(1), normal(5.8, .8, 1), normal(9.7, 1.7, 1), inTurn("Iris-setosa", "Iris-versicolor", "Iris-virginica")))
	asks("excel sep line", "Predict krank (nein 38, ja 22) from 3 columns",
		"sep=;\n"+written("Alter;Größe;Raucher;krank", ";", 60, whole(18, 80), func(_ int, r *rand.Rand) string { return fmt.Sprintf("1,%02d", 50+r.IntN(50)) }, oneOf("ja", "nein"), share(.4, "ja", "nein")))
	obvious("comments above", "Predict species (a 32, b 28) from 2 columns",
		"# measured 2021\n# unit: mm\n"+written("length,width,species", ",", 60, normal(5, 1, 2), normal(3, 1, 2), oneOf("a", "b")))
	asks("employees", "Predict promoted (no 93, yes 7) from 3 columns; emp_no, last_name and email left out",
		written("emp_no,first_name,last_name,email,salary,years,promoted", ",", 100, from(10001), func(_ int, r *rand.Rand) string { return []string{"Ann", "Bob", "Eve", "Tom"}[r.IntN(4)] }, func(i int, _ *rand.Rand) string { return fmt.Sprint("Name", i) }, func(i int, _ *rand.Rand) string { return fmt.Sprintf("user%d@example.org", i) }, whole(30000, 90000), whole(0, 30), share(.1, "yes", "no")))
	asks("sensor with many -1", "Predict state (run 73, stop 64, idle 63) from 4 columns; missing median; fixed missing:-9999:s1, missing:99:s3; offers missing:-1:s2",
		written("t,s1,s2,s3,state", ",", 200, from(0), sometimes(normal(0, 1, 2), .05, "-9999"), sometimes(between(1, 9), .05, "-1"), sometimes(whole(1, 9), .1, "99"), oneOf("run", "stop", "idle")))
	obvious("reviews rating text", "Predict rating (1 37, 3 32, 5 31, 2 27, 4 23) from the strings in review_text",
		written("review_text,rating", ",", 150, sentence, whole(1, 5)))
	asks("Italian clienti", "Predict abbandono (no 94, sì 26) from 3 columns; codice_cliente left out",
		written("codice_cliente;età;reddito;città;abbandono", ";", 120, from(5000), whole(18, 80), whole(9000, 90000), oneOf("Roma", "Milano"), share(.2, "sì", "no")))
	asks("Portuguese", "Predict inadimplente (não 94, sim 26) from 3 columns",
		written("idade,renda,estado_civil,inadimplente", ",", 120, whole(18, 80), whole(900, 9000), oneOf("solteiro", "casado"), share(.2, "sim", "não")))
	asks("Swedish house", "Predict pris (numbers: a regression) from 3 columns",
		written("rum;yta;område;pris", ";", 120, whole(1, 6), whole(20, 200), oneOf("Norr", "Söder"), whole(900000, 9000000)))
	asks("Ja/Nein in many columns", "Predict Therapieerfolg (nein 42, ja 38) from 3 columns; Versuchsperson left out; offers duplicates",
		written("Versuchsperson;Gruppe;Alter;Raucher;Therapieerfolg", ";", 80, from(1), oneOf("A", "B"), whole(18, 80), oneOf("ja", "nein"), oneOf("ja", "nein")))
	obvious("label with spaces and quotes", "Predict the class (u 32, v 28) from 2 columns",
		written("'x 1','x 2','the class'", ",", 60, normal(0, 1, 2), normal(0, 1, 2), oneOf("'u'", "'v'")))
	obvious("quoted numbers", "Predict c (v 32, u 28) from 2 columns",
		written("\"a\",\"b\",\"c\"", ",", 60, func(_ int, r *rand.Rand) string { return fmt.Sprintf("\"%.2f\"", r.Float64()) }, func(_ int, r *rand.Rand) string { return fmt.Sprintf("\"%.2f\"", r.Float64()) }, oneOf("\"u\"", "\"v\"")))
	obvious("pipe separated", "Predict result (neg 32, pos 28) from 2 columns",
		written("age|bp|result", "|", 60, whole(18, 80), whole(90, 180), oneOf("pos", "neg")))
	asks("indicators of classes", "Predict is_c (0 40, 1 20) from 4 columns",
		written("x,y,is_a,is_b,is_c", ",", 60, normal(0, 1, 3), normal(0, 1, 3), inTurn("1", "0", "0"), inTurn("0", "1", "0"), inTurn("0", "0", "1")))
	asks("prices in euro", "Predict Preis (numbers: a regression) from 2 columns; Objekt left out",
		written("Objekt;Fläche;Zimmer;Preis", ";", 80, from(1), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d,5 m²", 30+r.IntN(90)) }, whole(1, 6), func(_ int, r *rand.Rand) string { return fmt.Sprintf("%d.%03d,00 €", 100+r.IntN(800), r.IntN(1000)) }))
}
