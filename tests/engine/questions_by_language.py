"""Short questions as people type them, by language: half to work with, half to check with.

`UNDECIDED` tell no language: names, loan words and identifiers.
"""

WORKED_WITH = {
    "en": [
        "Per capita income in Peru", "Population of Rio de Janeiro", "Who was Marie Curie?",
        "die casting vs sand casting", "World War II causes", "Best way to pour concrete",
        "What is a con artist?", "Is Vincent van Gogh the best known painter?",
        "cost per kilowatt hour of solar panels", "How come bread rises?", "no knead bread recipe",
        "What does du jour mean?", "List of UN members", "Comment on the war in general terms",
        "the son also rises, summary", "door to door sales rules", "WHAT IS THE CAPITAL OF PERU?",
        "Why do men die younger than women?", "hat sizes explained", "a la carte menu meaning",
    ],
    "de": [
        "Wer war Goethe?", "Die Hauptstadt von Peru", "Wie hoch ist der Eiffelturm?",
        "Was kostet eine Wärmepumpe?", "Pro-Kopf-Einkommen in Peru und Chile",
        "wann wurde rom gegründet", "Vorteile von Wärmepumpen im Altbau",
        "WIE ALT IST DIE ERDE?", "Und in Österreich?", "Kann man Moos essen?",
    ],
    "fr": [
        "Qui était Molière ?", "La capitale du Pérou", "Combien coûte une pompe à chaleur ?",
        "Revenu par habitant au Pérou", "quel age a la terre", "Pourquoi le ciel est-il bleu ?",
        "Qu'est-ce que la photosynthèse ?", "L'histoire de la ville de Lyon",
        "Et en Suisse ?", "où se trouve le mont Blanc",
    ],
    "es": [
        "¿Quién fue Cervantes?", "La capital del Perú", "cuanto cuesta una bomba de calor",
        "Ingreso per cápita en el Perú", "que es la fotosintesis", "¿Por qué el cielo es azul?",
        "Historia de la ciudad de Lima y sus puertos", "¿Y en Chile?", "como hacer pan en casa",
        "¿Cuántos años tiene la Tierra?",
    ],
    "it": [
        "Chi era Dante?", "Reddito pro capite in Perù e nel Cile", "Come si fa il pane?",
        "quanto costa una pompa di calore", "Perché il cielo è blu?", "Dov'è il Monte Bianco?",
        "Cos'è la fotosintesi?", "Storia della città di Lucca", "E in Svizzera quanti sono?",
        "Quando è stata fondata Roma?",
    ],
    "pt": [
        "Quem foi Camões?", "A capital do Peru e a sua história",
        "Quanto custa uma bomba de calor?",
        "Renda per capita no Peru e na Bolívia", "como fazer pão em casa",
        "Por que o céu é azul?", "O que é a fotossíntese?", "História da cidade do Porto",
        "Onde fica o Monte Branco?", "Qual é a idade da Terra?",
    ],
    "nl": [
        "Wie was Rembrandt?", "De hoofdstad van Peru", "Hoe oud is de aarde?",
        "Wat kost een warmtepomp?", "Waarom is de lucht blauw?", "hoe maak je brood",
        "Inkomen per hoofd van de bevolking in Peru", "Waar ligt de Mont Blanc?",
        "Voordelen van een warmtepomp in oude huizen", "Is dat ook zo in Vlaanderen?",
    ],
    "zh": ["秘鲁的首都是哪里?", "热泵多少钱"],
    "ja": ["ペルーの首都はどこですか", "空はなぜ青い"],
    "ko": ["페루의 수도는 어디인가요?"],
    "ru": ["Какая столица у Перу?", "сколько стоит тепловой насос"],
    "el": ["Ποια είναι η πρωτεύουσα του Περού;"],
    "ar": ["ما هي عاصمة بيرو؟"],
}  # fmt: skip

CHECKED_WITH = {
    "en": [
        "Income per head in Italy", "Mayor of Buenos Aires", "Who wrote Don Quixote?",
        "die cut stickers price", "Civil War generals", "pros and cons of heat pumps",
        "what was the name of Napoleon's son", "Leonardo da Vinci's notebooks",
        "miles per gallon explained", "Does the moon have an atmosphere?",
        "How do I say hello in Dutch?", "man in the iron mask, true story",
        "Where is the Bay of Biscay?", "sin tax on sugar: does it work?",
        "Are there any plus sizes?", "water use per capita by country", "Is Mars red?",
        "Come and Get It: who sang it?", "list of popes", "WHO GUIDELINES ON NOISE",
    ],
    "de": [
        "Wer hat das Telefon erfunden?", "Die Geschichte der Stadt Köln",
        "wie viele einwohner hat berlin", "Warum ist der Himmel blau?",
        "Einkommen pro Kopf in Italien und Spanien", "Welche Tiere leben im Wattenmeer?",
        "Was ist Photosynthese?", "Und wie teuer ist das?", "Kosten für einen Dachausbau",
        "Gibt es Leben auf dem Mars?",
    ],
    "fr": [
        "Qui a inventé le téléphone ?", "Histoire de la ville de Nantes",
        "combien d'habitants a Paris", "Quels animaux vivent dans la mer Morte ?",
        "Comment faire du pain ?", "Revenu moyen en Italie et en Espagne",
        "Y a-t-il de la vie sur Mars ?", "Quelle est la hauteur de la tour Eiffel ?",
        "Et combien cela coûte ?", "Les avantages des pompes à chaleur",
    ],
    "es": [
        "¿Quién inventó el teléfono?", "Historia de la ciudad de Sevilla",
        "cuantos habitantes tiene madrid", "¿Qué animales viven en el mar Muerto?",
        "Ventajas de las bombas de calor", "¿Hay vida en Marte?", "donde queda el monte blanco",
        "Ingreso medio en Italia y en Francia", "¿Cuál es la altura de la torre Eiffel?",
        "¿Y cuánto cuesta?",
    ],
    "it": [
        "Chi ha inventato il telefono?", "Storia della città di Siena",
        "quanti abitanti ha Roma", "Quali animali vivono nel mar Morto?",
        "Vantaggi delle pompe di calore", "C'è vita su Marte?", "Reddito medio in Spagna",
        "Qual è l'altezza della torre Eiffel?", "E quanto costa?", "come fare la pizza in casa",
    ],
    "pt": [
        "Quem inventou o telefone?", "História da cidade de Lisboa",
        "quantos habitantes tem o Brasil", "Que animais vivem no mar Morto?",
        "Vantagens das bombas de calor", "Há vida em Marte?", "onde fica a serra da estrela",
        "Renda média na Itália e na Espanha", "Qual é a altura da torre Eiffel?",
        "E quanto custa?",
    ],
    "nl": [
        "Wie heeft de telefoon uitgevonden?", "Geschiedenis van de stad Utrecht",
        "hoeveel inwoners heeft amsterdam", "Welke dieren leven in de Waddenzee?",
        "Wat is fotosynthese?", "Is er leven op Mars?", "En wat kost dat?",
        "Gemiddeld inkomen in Italië en Spanje", "Hoe hoog is de Eiffeltoren?",
        "Nadelen van zonnepanelen op een plat dak",
    ],
    "zh": ["谁发明了电话？", "火星上有生命吗"],
    "ja": ["電話を発明したのは誰ですか", "火星に生命はいますか？"],
    "ko": ["전화를 발명한 사람은 누구인가요?"],
    "ru": ["Кто изобрёл телефон?", "есть ли жизнь на марсе"],
    "he": ["מי המציא את הטלפון?"],
    "hi": ["टेलीफोन का आविष्कार किसने किया?"],
}  # fmt: skip

UNDECIDED = {
    "worked with": [
        "Rio de Janeiro", "Los Angeles", "autovacuum_vacuum_scale_factor", "Kant", "",
        "tour de france", "Charles de Gaulle", "Die Hard", "2024", "El Niño", "capital de Peru",
    ],
    "checked with": [
        "Ludwig van Beethoven", "Las Vegas", "os.path.join", "Goethe Faust", "?", "Le Mans",
        "Dolce e Gabbana", "São Paulo", "Leonardo da Vinci",
    ],
}  # fmt: skip
