package dataset

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// nameEvidence is what a column's name suggests about its role in a table. Points are on the
// scale of Table.rank.
type nameEvidence struct {
	classes int  // points for a label of classes; negative: the usual name of a feature
	words   int  // points for a label of words, or of two values
	numbers int  // points for a label of numbers
	generic bool // the name is a word for "label"
}

// wordSet holds lower-case words without accents, as a map that is built when first used.
type wordSet func() map[string]bool

func wordList(words string) wordSet {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for w := range strings.FieldsSeq(words) {
			set[w] = true
		}
		return set
	})
}

func (s wordSet) has(word string) bool { return s()[word] }

// The usual names of columns, in English, German, French, Spanish, Italian, Portuguese, Dutch
// and a few other languages, folded as fold does.
var (
	// labelWords are generic names of a label.
	labelWords = wordList(`label labels class classes target targets groundtruth gt ytrue
		klasse klassen zielvariable zielgrosse zielwert etikett kennzeichnung
		classe cible etiquette variablecible clase etiqueta objetivo variableobjetivo
		etichetta bersaglio alvo rotulo klas doel doelvariabele etiket klass mal malvariabel klasa etykieta
		класс метка цель 标签 類別 类别 ラベル クラス 레이블`)

	// classWords name common targets of classification.
	classWords = wordList(`diagnosis diagnose diagnostic diagnostico diagnosi diagnoza diagnoosi
		species espece especie specie soort gatunek survived survival uberlebt survecu survie sobrevivio sopravvissuto sobreviveu overleefd
		churn churned churner attrition exited abgewandert gekundigt abwanderung kundigung resilie desabonne abandono baja abbandono
		outcome outcomes ergebnis resultat resultado risultato resultaat esito desenlace fraud fraudulent betrug fraude frode spam ham sentiment stimmung
		default defaulted ausfall defaut impago mora malignant malignancy benign maligne cancer tumor tumeur krebs disease krank krankheit maladie enfermedad malattia doenca
		diabetes diabetic stroke infected infection death dead died deceased alive mortality gestorben verstorben deces deceso muerte morto fallecido
		approved approval bewilligt genehmigt approuve aprobado approvato admitted admission zugelassen
		passed bestanden reussi aprobo promosso hired converted conversion clicked purchased bought gekauft achete comprado acquistato
		subscribed subscription readmitted readmission recurrence relapse ruckfall rechute recidiva toxic toxicity edible poisonous essbar comestible
		winner won sieger gagnant ganador canceled cancelled storniert annule cancelado opgezegd opzegging uppsagd opsagt rezygnacja returned retourniert retourne devuelto sold verkauft vendu vendido satisfied satisfaction zufriedenheit zufrieden satisfaccion soddisfazione
		prediction predicted anomaly outlier attack intrusion fault failure defect defekt ausschuss panne fallo guasto versagen`)

	// wholeClassWords name classes if they are the whole name; if the column holds several
	// numbers, they may also name quantities.
	wholeClassWords = wordList(`left art y response responder deposit condition output num decision entscheidung decisao digit verdict malade enfermo malato erkrankt
		variety variete variedad varieta sorte cultivar race breed object letter character activity tissue histology event parti gone stayed quit ausgetreten`)

	// bandWords name classes if the values are words, and quantities if they are numbers.
	bandWords = wordList(`income einkommen salary gehalt revenu salaire ingreso salario reddito`)

	// hintWords name features as often as classes.
	hintWords = wordList(`type kind group status stage grade category genre result res quality risk segment subtype phenotype cluster level mood
		typ gruppe stufe note kategorie qualitat risiko groupe etat qualite categorie risque tipo grupo estado calidad calidade categoria riesgo gruppo stato qualita rischio soort groep kwaliteit`)

	// ratingWords name a rating on a scale of a few steps.
	ratingWords = wordList(`rating ratings stars bewertung sterne notation etoiles calificacion valoracion estrellas valutazione voto stelle avaliacao beoordeling ocena`)

	// numberWords, as the last word of a name, name common targets of regression.
	numberWords = wordList(`price prices charges medv value mpg demand yield strength cnt rent rings progression emissions
		preis miete ertrag verbrauch festigkeit nachfrage kaufpreis prix loyer rendement consommation precio alquiler rendimiento consumo
		prezzo affitto resa preco aluguel prijs huur pris cena`)

	// amountWords do so as well, but as often name a feature in a classification.
	amountWords = wordList(`cost costs sales revenue turnover output count salary score consumption duration profit spending sale
		kosten wert umsatz gehalt punktzahl absatz gewinn cout valeur ventes salaire costo coste valor ventas salario
		valore vendite stipendio vendas waarde omzet`)

	// leadingNumberWords do so as the first word, as in precio_venta.
	leadingNumberWords = wordList(`prix precio prezzo preco valeur valor valore loyer alquiler affitto cout costo coste rendement rendimiento consommation consumo`)

	// classHeads and numberHeads end compound words: Kaufpreis, Zielklasse.
	classHeads  = []string{"klasse", "diagnose", "ergebnis", "kundigung"}
	numberHeads = []string{"preis", "miete", "ertrag", "verbrauch", "prijs"}

	// featureWords name values that are usually known beforehand.
	featureWords = wordList(`sex gender geschlecht sexe sexo sesso genere geslacht age alter edad eta idade leeftijd
		colour color farbe couleur size grosse taille tamano taglia country land pays pais paese nation region city stadt ville ciudad citta state province
		month monat mois mes mese day tag jour dia giorno weekday wochentag year jahr annee ano anno season saison hour stunde heure hora ora
		smoker raucher fumeur fumador fumatore married marital education bildung ausbildung department abteilung job beruf occupation profession
		embarked island contract payment device browser channel kanal brand marke marque marca model modell modele modelo ethnicity religion
		pclass cylinders zylinder doors rooms bedrooms bathrooms floors zimmer stockwerk garage waterfront furnished weekend holiday
		balcony balkon balcon terrace terrasse terraza pool garden garten jardin basement keller elevator aufzug ascenseur ascensor parking fireplace heating heizung mobliert`)

	// identifierWords name identifiers of rows.
	identifierWords = wordList(`id ids uuid guid uid oid pid rowid passengerid customerid kennung identifier identifikator identifiant identificador identificativo ssn iban`)
	// wholeIdentifierWords do so if they are the whole name.
	wholeIdentifierWords = wordList(`index idx row rows rownames rownumber rownr zeile ligne fila riga linha nr no num number nummer numero lfdnr unnamed0 x0 key schlussel cle clave obs observation case fall sample probe record instance serial barcode isbn sku`)
	// countingWords name row numbers if all values differ.
	countingWords = wordList(`id nr no num number nummer numero numeros code case sample subject record row matrnr matrikelnummer kundennummer ref reference referenz aktenzeichen barcode serial name names vorname nachname nom nombre nome account konto kontonummer compte cuenta
		pid email mail url hash checksum token fingerprint`)
	identifierHeads = []string{"nummer", "nr", "kennung", "uuid", "hash", "schlussel"}

	// partWords name the part of the data that a row belongs to.
	partWords = wordList(`train training test testing val valid validation dev development holdout`)

	// codeWords name numbers that are not quantities.
	codeWords = wordList(`zip zipcode plz postleitzahl postal postcode postalcode cp codepostal codigopostal cap cep phone telephone telefon tel mobile handy telefono telefone fax telephonenumber phonenumber phoneno iban bic account konto kontonummer`)

	// yearWords name years, steps and the like, which rise by one without numbering rows.
	// dayWords name days and times, which may be written as numbers.
	dayWords = wordList(`date dates datum fecha data dt day timestamp time datetime zeit zeitstempel horodatage epoch unix created updated ts`)

	yearWords = wordList(`year jahr annee ano anno jaar yr baujahr jahrgang rok time zeit temps tiempo tempo t x day tag step epoch age alter hour stunde minute second month monat`)
)

// fold writes a name in lower case without accents.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.ReplaceAll(norm.NFD.String(s), "ß", "ss"))
}

// nameWords splits a name at punctuation, and where a capital follows a small letter. It drops
// a unit in brackets at the end.
func nameWords(name string) (parts []string, whole string) {
	if i := strings.IndexAny(name, "(["); i > 0 && strings.TrimSpace(name[:i]) != "" && strings.ContainsAny(name[len(name)-1:], ")]") {
		name = name[:i]
	}
	var b strings.Builder
	var last rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	parts = strings.Fields(fold(b.String()))
	return parts, strings.Join(parts, "")
}

func hasHead(word string, heads []string) bool {
	return slices.ContainsFunc(heads, func(h string) bool { return len(word) > len(h) && strings.HasSuffix(word, h) })
}

// evidence weighs the name of a column.
func evidence(name string) (e nameEvidence) {
	parts, whole := nameWords(name)
	if len(parts) == 0 {
		return e
	}
	any := func(set wordSet) bool { return slices.ContainsFunc(parts, set.has) }
	last := parts[len(parts)-1]
	switch {
	case labelWords.has(whole):
		return nameEvidence{classes: 100, numbers: 100, generic: true}
	case whole == "y":
		return nameEvidence{classes: 80, numbers: 80}
	case classWords.has(whole):
		e.classes = 65
	case wholeClassWords.has(whole):
		e.classes, e.words = 40, 65
	case ratingWords.has(last):
		e.classes, e.numbers = 45, 45
	case bandWords.has(whole):
		e.words = 40
	case classWords.has(last):
		e.classes = 58
	case labelWords.has(last) && !strings.HasPrefix(last, "clas"): // a ticket class, for example, is not a label
		e.classes, e.numbers = 60, 60
	case any(classWords), hasHead(last, classHeads):
		e.classes = 55
	case any(labelWords):
		e.classes, e.numbers = 45, 45
	case hintWords.has(last):
		e.classes = 20
	case any(featureWords):
		e.classes = -15
	case parts[0] == "is", parts[0] == "has", parts[0] == "ist", parts[0] == "hat", parts[0] == "est", parts[0] == "es":
		e.classes = 10
	}
	switch {
	case numberWords.has(whole):
		e.numbers = max(e.numbers, 60)
	case numberWords.has(last), hasHead(last, numberHeads), leadingNumberWords.has(parts[0]):
		e.numbers = max(e.numbers, 55)
	case amountWords.has(last):
		e.numbers = max(e.numbers, 40)
	case classWords.has(whole), hintWords.has(last):
		e.numbers = max(e.numbers, 20)
	case any(featureWords):
		e.numbers = -10
	}
	return e
}
