"""Words of made-up businesses in six languages: goods, services, foods, streets, trades. No person is named."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """street: forms with * for a name and # for a number. methods: (printed, what a list of choices calls it)."""

    adjectives: tuple[str, ...]
    adjective_last: bool
    goods: tuple[str, ...]
    services: tuple[str, ...]
    foods: tuple[str, ...]
    trades: tuple[str, ...]
    shops: tuple[str, ...]
    streets: tuple[str, ...]
    methods: tuple[tuple[str, str], ...]


def _list(text: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(","))


def _methods(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (entry.split("=") for entry in _list(text))
    return tuple((printed, category) for printed, category in pairs)


_CARDS = "Visa=card, Mastercard=card, VISA=card, Maestro=card, Apple Pay=card, PayPal=other"

VOCABULARIES: dict[str, Vocabulary] = {
    "en": Vocabulary(
        adjectives=_list(
            """Blue, Red, Green, Black, White, Grey, Yellow, Small, Large, Heavy, Light, Long, Short, Round, Flat, Soft,
            Hard, Steel, Wooden, Copper, Glass, Cotton, Paper, Plastic, Rubber, Leather, Digital, Portable, Wireless,
            Premium, Basic, Standard, Deluxe, Double, Single, Spare, Folding, Adjustable, Outdoor, Annual, Monthly,
            Refurbished, Galvanised, Recycled, Magnetic, Insulated, Ergonomic, Compact"""
        ),
        adjective_last=False,
        goods=_list(
            """cable, paper, desk, lamp, chair, pen, box, filter, valve, panel, screw, bolt, washer, mouse, keyboard,
            monitor, toner, battery, brush, glove, mask, tape, glue, hose, pump, motor, switch, sensor, adapter,
            charger, stand, shelf, cabinet, folder, binder, stapler, marker, notebook, envelope, bracket, hinge,
            ladder, bucket, drill, saw, hammer, wrench, socket, fuse, router, crate, pallet, label, ribbon, bottle,
            basket, rope, chain, spring, gasket, bearing, pipe, sheet, board, tile, curtain, carpet, whiteboard,
            projector, headset, webcam, printer, scanner, toolbox, extension lead, door handle, safety helmet"""
        ),
        services=_list(
            """service, repair, design, hosting, support, training, licence, consulting, delivery, installation,
            inspection, cleaning, maintenance, printing, translation, storage, transport, assembly, calibration,
            survey, workshop, set-up, testing, programming, data backup, project management, site visit,
            legal advice, bookkeeping, catering, security patrol, waste collection, software subscription"""
        ),
        foods=_list(
            """Coffee, Tea, Sugar, Milk, Bread, Butter, Cheese, Juice, Water, Eggs, Flour, Rice, Pasta, Tomatoes,
            Onions, Bananas, Apples, Yoghurt, Honey, Jam, Salad, Soup, Lemonade, Crackers, Nuts, Olive oil, Ketchup,
            Oats, Beans, Lentils, Pears, Carrots, Potatoes, Cocoa, Vinegar, Cream, Sandwich, Muffin, Croissant,
            Cookie, Espresso, Latte, Cappuccino, Bagel, Soap, Towel, Shampoo, Batteries, Napkins, Candle, Magazine,
            Umbrella, Socks, Toothpaste, Light bulb, Sponge, Postcard, Fish pie, Chicken wrap, House wine"""
        ),
        trades=_list(
            """Trading, Services, Supplies, Partners, Systems, Works, Labs, Logistics, Foods, Tools, Studio, Media,
            Design, Textiles, Metals, Optics, Energy, Print, Software, Electric, Garden, Furniture, Freight, Water,
            Telecom, Catering, Cleaning, Packaging, Plumbing, Roofing, Digital, Timber"""
        ),
        shops=_list(
            """Market, Cafe, Bakery, Store, Shop, Deli, Foods, Books, Pharmacy, Bistro, Kitchen, Garage, Outlet,
            Corner, Express, Grill, Bar, Hardware, Florist, Superstore"""
        ),
        streets=_list(
            """# * Street, # * Road, # * Lane, # * Avenue, # * Square, Unit # * Park, # * Way, # * Hill, # * Drive,
            # Old * Road, P.O. Box #, # * Court"""
        ),
        methods=_methods(
            """Cash=cash, CASH=cash, Card=card, Credit card=card, Debit card=card, CARD=card, Contactless=card,
            Bank transfer=transfer, Gift card=other, Voucher=other, Cheque=other, """
            + _CARDS
        ),
    ),
    "de": Vocabulary(
        adjectives=_list(
            """Kleine, Große, Blaue, Rote, Grüne, Schwarze, Weiße, Graue, Schwere, Leichte, Lange, Kurze, Runde, Flache,
            Stabile, Tragbare, Digitale, Doppelte, Einfache, Faltbare, Verzinkte, Gebrauchte, Neue, Magnetische,
            Wasserdichte, Verstellbare, Geprüfte, Jährliche, Monatliche"""
        ),
        adjective_last=False,
        goods=_list(
            """Kabel, Papier, Schreibtisch, Lampe, Stuhl, Kugelschreiber, Karton, Filter, Ventil, Platte,
            Schraube, Mutter,
            Scheibe, Maus, Tastatur, Bildschirm, Toner, Batterie, Bürste, Handschuhe, Schutzmaske, Klebeband, Leim,
            Schlauch, Pumpe, Motor, Schalter, Fühler, Netzteil, Ladegerät, Ständer, Regal, Schrank, Ordner, Hefter,
            Notizbuch, Umschlag, Winkel, Scharnier, Leiter, Eimer, Bohrer, Säge, Hammer, Steckdose, Sicherung, Palette,
            Etiketten, Flasche, Korb, Seil, Kette, Feder, Dichtung, Kugellager, Rohr, Brett, Fliese, Vorhang, Teppich,
            Drucker, Werkzeugkasten, Türgriff, Schutzhelm, Mehrfachstecker, Holzdübel, Wandfarbe"""
        ),
        services=_list(
            """Reparatur, Wartung, Beratung, Schulung, Lieferung, Einbau, Prüfung, Reinigung, Druck, Übersetzung,
            Lagerung, Transport, Montage, Einstellung, Vermessung, Einrichtung, Programmierung, Datensicherung,
            Buchhaltung, Entsorgung, Gartenpflege, Anfahrt, Arbeitszeit, Lizenz, Gestaltung, Serverbetrieb, Gutachten"""
        ),
        foods=_list(
            """Kaffee, Tee, Zucker, Milch, Brot, Butter, Käse, Saft, Wasser, Eier, Mehl, Reis, Nudeln, Tomaten,
            Zwiebeln,
            Bananen, Äpfel, Joghurt, Honig, Marmelade, Salat, Suppe, Limonade, Nüsse, Olivenöl, Senf, Haferflocken,
            Bohnen, Linsen, Birnen, Möhren, Kartoffeln, Kakao, Essig, Sahne, Brötchen, Brezel, Kuchen, Espresso,
            Cappuccino, Seife, Handtuch, Batterien, Servietten, Kerze, Zeitung, Regenschirm, Socken, Zahnpasta,
            Schnitzel, Bratwurst, Apfelschorle, Weißbier, Wurstsemmel"""
        ),
        trades=_list(
            """Technik, Handel, Logistik, Bau, Druck, Metall, Optik, Energie, Elektro, Möbel, Spedition, Software,
            Medien, Textil, Werkzeuge, Gartenbau, Reinigung, Verpackung, Heizung, Holz, Maschinen, Systeme, Verlag,
            Büroservice, Dienste, Solar"""
        ),
        shops=_list(
            """Markt, Bäckerei, Café, Apotheke, Buchhandlung, Drogerie, Imbiss, Gasthaus, Kiosk, Metzgerei, Baumarkt,
            Stube, Feinkost, Blumen, Tankstelle, Kaufhaus"""
        ),
        streets=_list("*straße #, *weg #, *gasse #, Am * #, *platz #, *allee #, Alte *straße #, Postfach #, *ring #"),
        methods=_methods(
            """Bar=cash, BAR=cash, Barzahlung=cash, Karte=card, EC-Karte=card, Kreditkarte=card, girocard=card,
            Überweisung=transfer, Lastschrift=transfer, Gutschein=other, """
            + _CARDS
        ),
    ),
    "fr": Vocabulary(
        adjectives=_list(
            """bleu, rouge, vert, noir, blanc, gris, jaune, petit modèle, grand modèle, lourd, léger, long, court, rond,
            plat, souple, en acier, en bois, en verre, en coton, en plastique, portable, sans fil, standard, double,
            simple, pliant, réglable, extérieur, annuel, mensuel, galvanisé, recyclé, étanche"""
        ),
        adjective_last=True,
        goods=_list(
            """Câble, Papier, Bureau, Lampe, Chaise, Stylo, Boîte, Filtre, Vanne, Panneau, Vis, Écrou, Rondelle, Souris,
            Clavier, Écran, Toner, Pile, Brosse, Gants, Masque, Ruban, Colle, Tuyau, Pompe, Moteur, Interrupteur,
            Capteur, Adaptateur, Chargeur, Support, Étagère, Armoire, Classeur, Agrafeuse, Marqueur, Cahier,
            Enveloppe, Équerre, Charnière, Échelle, Seau, Perceuse, Scie, Marteau, Clé, Prise, Fusible, Caisse,
            Palette, Étiquettes, Bouteille, Panier, Corde, Chaîne, Ressort, Joint, Roulement, Planche, Carrelage,
            Rideau, Tapis, Imprimante, Casque, Poignée, Peinture"""
        ),
        services=_list(
            """Réparation, Entretien, Conseil, Formation, Livraison, Installation, Contrôle, Nettoyage, Impression,
            Traduction, Stockage, Transport, Montage, Réglage, Étude, Atelier, Mise en service, Programmation,
            Sauvegarde, Comptabilité, Déplacement, Main-d'œuvre, Licence, Hébergement, Assistance, Expertise"""
        ),
        foods=_list(
            """Café, Thé, Sucre, Lait, Pain, Beurre, Fromage, Jus, Eau, Oeufs, Farine, Riz, Pâtes, Tomates, Oignons,
            Bananes, Pommes, Yaourt, Miel, Confiture, Salade, Soupe, Limonade, Noix, Huile d'olive, Moutarde, Avoine,
            Haricots, Lentilles, Poires, Carottes, Cacao, Vinaigre, Crème, Baguette, Croissant, Tarte, Éclair, Savon,
            Serviette, Bougie, Journal, Parapluie, Dentifrice, Ampoule, Quiche, Plat du jour, Menu midi, Vin rouge,
            Bière blonde, Pain au chocolat"""
        ),
        trades=_list(
            """Techniques, Commerce, Logistique, Bâtiment, Imprimerie, Métaux, Optique, Énergie, Électricité, Meubles,
            Transports, Logiciels, Médias, Textiles, Outillage, Jardins, Nettoyage, Emballages, Chauffage, Bois,
            Machines, Systèmes, Éditions, Services, Distribution"""
        ),
        shops=_list(
            """Boulangerie, Café, Pharmacie, Librairie, Marché, Épicerie, Bistrot, Brasserie, Boucherie, Fleurs, Presse,
            Garage, Traiteur, Quincaillerie, Restaurant"""
        ),
        streets=_list("# rue *, # avenue *, # boulevard *, # place *, # chemin *, # allée *, #, rue de *, B.P. #"),
        methods=_methods(
            """Espèces=cash, ESPECES=cash, Carte=card, Carte bancaire=card, CB=card, Sans contact=card,
            Virement=transfer, Prélèvement=transfer, Chèque=other, Bon d'achat=other, """
            + _CARDS
        ),
    ),
    "es": Vocabulary(
        adjectives=_list(
            """azul, rojo, verde, negro, blanco, gris, amarillo, pequeño, grande, pesado, ligero, largo, corto, redondo,
            plano, de acero, de madera, de vidrio, de algodón, portátil, inalámbrico, estándar, doble, sencillo,
            plegable, ajustable, exterior, anual, mensual, galvanizado, reciclado, resistente"""
        ),
        adjective_last=True,
        goods=_list(
            """Cable, Papel, Escritorio, Lámpara, Silla, Bolígrafo, Caja, Filtro, Válvula, Panel, Tornillo, Tuerca,
            Arandela, Ratón, Teclado, Pantalla, Tóner, Pila, Cepillo, Guantes, Máscara, Cinta, Pegamento, Manguera,
            Bomba, Motor, Interruptor, Sensor, Adaptador, Cargador, Soporte, Estante, Armario, Carpeta, Grapadora,
            Rotulador, Cuaderno, Sobre, Escuadra, Bisagra, Escalera, Cubo, Taladro, Sierra, Martillo, Llave, Enchufe,
            Fusible, Palé, Etiquetas, Botella, Cesta, Cuerda, Cadena, Muelle, Junta, Rodamiento, Tubo, Tabla, Azulejo,
            Cortina, Alfombra, Impresora, Casco, Pintura"""
        ),
        services=_list(
            """Reparación, Mantenimiento, Consultoría, Formación, Entrega, Instalación, Inspección, Limpieza, Impresión,
            Traducción, Almacenaje, Transporte, Montaje, Calibración, Estudio, Taller, Programación, Copia de datos,
            Contabilidad, Desplazamiento, Mano de obra, Licencia, Diseño, Alojamiento, Asistencia"""
        ),
        foods=_list(
            """Café, Té, Azúcar, Leche, Pan, Mantequilla, Queso, Zumo, Agua, Huevos, Harina, Arroz, Pasta, Tomates,
            Cebollas, Plátanos, Manzanas, Yogur, Miel, Mermelada, Ensalada, Sopa, Limonada, Nueces, Aceite de oliva,
            Mostaza, Avena, Judías, Lentejas, Peras, Zanahorias, Patatas, Cacao, Vinagre, Nata, Bocadillo, Magdalena,
            Churros, Jabón, Toalla, Pilas, Servilletas, Vela, Periódico, Paraguas, Tortilla, Caña, Vino tinto,
            Menú del día, Croquetas"""
        ),
        trades=_list(
            """Técnicas, Comercial, Logística, Construcción, Gráficas, Metales, Óptica, Energía, Electricidad, Muebles,
            Transportes, Informática, Medios, Textil, Herramientas, Jardines, Limpiezas, Envases, Maderas, Maquinaria,
            Sistemas, Editorial, Servicios, Distribuciones"""
        ),
        shops=_list(
            """Mercado, Panadería, Café, Farmacia, Librería, Tienda, Bar, Bodega, Carnicería, Flores, Quiosco, Taller,
            Ferretería, Restaurante, Supermercado"""
        ),
        streets=_list("Calle * #, Avda. * #, Plaza * #, C/ * #, Paseo * #, Camino * #, Apartado #, Ronda * #"),
        methods=_methods(
            """Efectivo=cash, EFECTIVO=cash, Tarjeta=card, Tarjeta de crédito=card, Contactless=card,
            Transferencia=transfer, Domiciliación=transfer, Cheque=other, Vale=other, """
            + _CARDS
        ),
    ),
    "it": Vocabulary(
        adjectives=_list(
            """blu, rosso, verde, nero, bianco, grigio, giallo, piccolo, grande, pesante, leggero, lungo, corto, tondo,
            piatto, in acciaio, in legno, in vetro, in cotone, portatile, senza fili, standard, doppio, singolo,
            pieghevole, regolabile, da esterno, annuale, mensile, zincato, riciclato, resistente"""
        ),
        adjective_last=True,
        goods=_list(
            """Cavo, Carta, Scrivania, Lampada, Sedia, Penna, Scatola, Filtro, Valvola, Pannello, Vite, Dado, Rondella,
            Mouse, Tastiera, Schermo, Toner, Batteria, Spazzola, Guanti, Mascherina, Nastro, Colla, Tubo, Pompa,
            Motore, Interruttore, Sensore, Adattatore, Caricatore, Supporto, Scaffale, Armadio, Cartella, Cucitrice,
            Pennarello, Quaderno, Busta, Staffa, Cerniera, Scala, Secchio, Trapano, Sega, Martello, Chiave, Presa,
            Fusibile, Bancale, Etichette, Bottiglia, Cesto, Corda, Catena, Molla, Guarnizione, Cuscinetto, Tavola,
            Piastrella, Tenda, Tappeto, Stampante, Casco, Vernice"""
        ),
        services=_list(
            """Riparazione, Manutenzione, Consulenza, Formazione, Consegna, Installazione, Controllo, Pulizia, Stampa,
            Traduzione, Deposito, Trasporto, Montaggio, Taratura, Rilievo, Laboratorio, Programmazione, Copia dati,
            Contabilità, Trasferta, Manodopera, Licenza, Progettazione, Assistenza, Perizia"""
        ),
        foods=_list(
            """Caffè, Tè, Zucchero, Latte, Pane, Burro, Formaggio, Succo, Acqua, Uova, Farina, Riso, Pasta, Pomodori,
            Cipolle, Banane, Mele, Yogurt, Miele, Marmellata, Insalata, Zuppa, Limonata, Noci, Olio d'oliva, Senape,
            Fagioli, Lenticchie, Pere, Carote, Patate, Cacao, Aceto, Panna, Cornetto, Panino, Tramezzino, Cappuccino,
            Sapone, Pile, Candela, Giornale, Ombrello, Dentifricio, Lampadina, Pizza margherita, Vino rosso, Birra,
            Coperto, Tiramisù"""
        ),
        trades=_list(
            """Tecnica, Commerciale, Logistica, Edilizia, Grafica, Metalli, Ottica, Energia, Impianti, Mobili,
            Trasporti,
            Informatica, Tessile, Utensili, Giardini, Pulizie, Imballaggi, Legnami, Macchine, Sistemi, Edizioni,
            Servizi, Forniture"""
        ),
        shops=_list(
            """Mercato, Panificio, Caffè, Farmacia, Libreria, Bottega, Bar, Trattoria, Macelleria, Fiori, Edicola,
            Officina, Ferramenta, Ristorante, Pizzeria"""
        ),
        streets=_list("Via * #, Viale * #, Piazza * #, Corso * #, Via del * #, Largo * #, Strada * #, C.P. #"),
        methods=_methods(
            """Contanti=cash, CONTANTI=cash, Carta=card, Carta di credito=card, Bancomat=card, Contactless=card,
            Bonifico=transfer, Addebito=transfer, Assegno=other, Buono=other, """
            + _CARDS
        ),
    ),
    "nl": Vocabulary(
        adjectives=_list(
            """Kleine, Grote, Blauwe, Rode, Groene, Zwarte, Witte, Grijze, Zware, Lichte, Lange, Korte, Ronde, Platte,
            Stalen, Houten, Glazen, Katoenen, Draagbare, Draadloze, Dubbele, Enkele, Opvouwbare, Verstelbare, Nieuwe,
            Jaarlijkse, Maandelijkse, Verzinkte, Waterdichte"""
        ),
        adjective_last=False,
        goods=_list(
            """kabel, papier, bureau, lamp, stoel, pen, doos, filter, klep, paneel, schroef, moer, ring, muis,
            toetsenbord,
            beeldscherm, toner, batterij, borstel, handschoenen, masker, plakband, lijm, slang, pomp, motor,
            schakelaar, sensor, adapter, oplader, standaard, plank, kast, map, nietmachine, stift, schrift, envelop,
            hoeksteun, scharnier, ladder, emmer, boor, zaag, hamer, sleutel, stopcontact, zekering, pallet, etiketten,
            fles, mand, touw, ketting, veer, pakking, kogellager, buis, tegel, gordijn, tapijt, printer, helm,
            deurkruk, verf, gereedschapskist"""
        ),
        services=_list(
            """reparatie, onderhoud, advies, opleiding, levering, plaatsing, keuring, schoonmaak, drukwerk, vertaling,
            opslag, vervoer, montage, afstelling, meting, inrichting, programmering, back-up, boekhouding, afvoer,
            voorrijkosten, arbeid, licentie, ontwerp, hosting"""
        ),
        foods=_list(
            """Koffie, Thee, Suiker, Melk, Brood, Boter, Kaas, Sap, Water, Eieren, Bloem, Rijst, Pasta, Tomaten, Uien,
            Bananen, Appels, Yoghurt, Honing, Jam, Salade, Soep, Limonade, Noten, Olijfolie, Mosterd, Havermout,
            Bonen, Linzen, Peren, Wortels, Aardappelen, Cacao, Azijn, Room, Broodje, Stroopwafels, Appeltaart,
            Espresso, Zeep, Handdoek, Batterijen, Servetten, Kaars, Krant, Paraplu, Sokken, Tandpasta, Bitterballen,
            Pannenkoek, Frisdrank, Speciaalbier"""
        ),
        trades=_list(
            """Techniek, Handel, Logistiek, Bouw, Drukkerij, Metaal, Optiek, Energie, Elektra, Meubelen, Transport,
            Software, Media, Textiel, Gereedschap, Tuinen, Schoonmaak, Verpakking, Verwarming, Hout, Machines,
            Systemen, Uitgeverij, Diensten"""
        ),
        shops=_list(
            """Markt, Bakkerij, Café, Apotheek, Boekhandel, Winkel, Eethuis, Slagerij, Bloemen, Kiosk, Garage,
            Bouwmarkt, Drogist, Lunchroom, Supermarkt"""
        ),
        streets=_list("*straat #, *weg #, *laan #, *plein #, *kade #, *gracht #, Postbus #, Oude *weg #, *dijk #"),
        methods=_methods(
            """Contant=cash, CONTANT=cash, Pin=card, PIN=card, Pinpas=card, Creditcard=card, Contactloos=card,
            Overboeking=transfer, iDEAL=transfer, Incasso=transfer, Cadeaubon=other, """
            + _CARDS
        ),
    ),
}
