"""What stands on documents in six languages: labels with their synonyms, titles, sentences, months.

One table a language, all with the same keys (a test holds them to it). Wordings are parted by "|"; a line
that begins with one goes on with the line before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Wordings:
    """The words of one language: `labels` by field (every wording), month names, and words of sentences."""

    language: str
    labels: dict[str, tuple[str, ...]]
    months: tuple[str, ...]
    short_months: tuple[str, ...]


def _table(language: str, months: str, short_months: str, text: str) -> Wordings:
    labels = {}
    for line in re.sub(r"\n\s*\|", "|", text).strip().splitlines():
        key, _, wordings = line.partition(":: ")
        labels[key.strip()] = tuple(wording.strip() for wording in wordings.split("|"))
    return Wordings(language, labels, tuple(months.split()), tuple(short_months.split()))


ENGLISH = _table(
    "en",
    "January February March April May June July August September October November December",
    "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    """
    invoice_title:: INVOICE|Invoice|TAX INVOICE|Tax invoice|Sales invoice|SALES INVOICE|Commercial invoice
    receipt_title:: RECEIPT|Receipt|Sales receipt|CASH SALE|Till receipt|CUSTOMER COPY
    statement_title:: ACCOUNT STATEMENT|Statement of account|Bank statement|Account statement|STATEMENT|Statement
    vendor:: From|Vendor|Seller|Supplier|Issued by|Company|Billed by|Sender
    customer:: Bill to|Billed to|Customer|Client|Sold to|Invoice to|To|Buyer|Invoiced to|Attn. accounts
        |Billing address
    invoice_number:: Invoice no.|Invoice number|Invoice #|Invoice No|Inv. no.|Document no.|Invoice ID|Bill no.
        |Invoice|Number|No.|Invoice ref.
    receipt_number:: Receipt no.|Receipt #|Receipt|Ticket no.|Trans. no.|Bill no.|Receipt number|Transaction|Slip no.
    statement_number:: Statement no.|Statement number|Statement #|Sheet no.|Document no.
    order_number:: Order no.|PO number|Order ref.|Your order|Purchase order|P.O. #|Your reference|Order number
    customer_number:: Customer no.|Customer ID|Client no.|Account no.|Customer number|Your customer no.
    date:: Date|Invoice date|Date of issue|Issued|Issue date|Date issued|Issued on|Billing date|Tax date
    receipt_date:: Date|Date of sale|Sold on|Date/time
    statement_date:: Date|Statement date|Issued|Date of issue|As of
    delivery_date:: Delivery date|Order date|Delivered|Shipped on|Date of supply|Service date
    due_date:: Due date|Payment due|Due|Pay by|Due by|Payable by|Date due|Due on|Please pay by|Payment deadline
    payment_terms:: Terms|Payment terms|Terms of payment|Conditions
    terms_value:: 30 days net|14 days net|Net 30|Net 14|Due on receipt|60 days net|10 days 2 %, 30 days net|Net 45
    currency:: Currency|Curr.|Invoice currency
    currency_line:: All amounts in *|All prices in *|Amounts in *|Amounts are stated in *
    period:: Period|Billing period|Service period|Statement period|For the period
    position:: Pos|No.|#|Item|Line
    sku:: Item no.|Code|SKU|Art. no.|Part no.|Ref.
    description:: Description|Item|Product|Details|Article|Service|Particulars|Description of goods|Item description
        |Goods
    quantity:: Qty|Quantity|Qty.|Pcs|Units|Count|No. of units|Hours
    unit:: Unit|U/M|UoM|Per
    units:: pcs|pc|ea|h|kg|m|l|box|set|pack|days
    unit_price:: Price|Unit price|Rate|Unit cost|Price each|Each|Price/unit|Price per unit|Net price
    tax_rate:: VAT|VAT %|Tax %|Tax rate|Rate %
    amount:: Amount|Total|Line total|Sum|Net|Value|Total price|Net amount|Extended
    subtotal:: Subtotal|Sub-total|Net amount|Net total|Sub total|Total net|Total before tax|Amount before tax
        |Total excl. VAT
    discount:: Discount|Less discount|Rebate|Trade discount|Special discount
    shipping:: Shipping|Delivery|Postage|Handling|Freight|Carriage|Shipping & handling|Packing and post
    tax:: VAT|Tax|Sales tax|Tax amount|VAT amount|GST
    tax_on:: * on #|* of #
    tax_total:: Total VAT|Total tax|Tax total|VAT total
    total:: Total|Total due|Amount due|Grand total|Invoice total|Balance due|Total amount|Total incl. VAT
        |Amount payable|Please pay|TOTAL DUE
    receipt_total:: Total|TOTAL|Amount due|Grand total|To pay|Sum|Total due|Balance|BALANCE DUE
    previous_balance:: Previous balance|Balance brought forward|Last invoice|Previous invoice|Carried forward
    payment_method:: Payment|Paid by|Payment method|Method|Paid with|Tender|Payment type
    given:: Given|Tendered|Cash tendered|Received
    change:: Change|Change due|Your change
    tax_id:: VAT ID|VAT no.|Tax ID|VAT reg. no.|Tax no.|EIN
    phone:: Tel.|Phone|Tel|T|Telephone|Call
    email:: Email|E-mail|Mail|E
    iban:: IBAN|Account|Our IBAN|Bank account
    bic:: BIC|SWIFT|BIC/SWIFT
    account_number:: Account no.|Account number|Account|Acct. no.
    account_holder:: Account holder|Holder|Account name|Name of account|Customer
    opening_balance:: Opening balance|Previous balance|Balance brought forward|Balance at start|Starting balance
    closing_balance:: Closing balance|New balance|Ending balance|Balance at end|Balance carried forward
    total_in:: Total credits|Money in|Total in|Deposits|Total paid in
    total_out:: Total debits|Money out|Total out|Withdrawals|Total paid out
    booking_date:: Date|Booked|Posted|Posting date|Trans. date
    booking_text:: Description|Details|Transaction|Particulars|Text
    reference:: Reference|Ref.|Ref. no.|Doc. no.
    booking_amount:: Amount|Debit/credit|Movement|Value
    balance:: Balance|New balance|Running balance
    bookings:: Card payment|Direct debit|Standing order|Transfer to|Transfer from|Cash withdrawal|Salary|Refund
        |Account fee|Interest|Rent|Insurance|Deposit|Cheque|Invoice
    till:: Till|Terminal|Table|Store|Cashier|Register
    page_of:: Page # of *|# / *|Page #/*|- # -
    continued:: Continued|continued on next page|Carried over
    thanks:: Thank you for your business.|Thank you!|Thank you for your order.|We appreciate your custom.
        |Questions? Please write to us.|Goods remain ours until paid in full.
        |Please quote the invoice number with your payment.|E. & O. E.|This invoice was made by computer.
        |Complaints within 8 days of delivery.
    receipt_thanks:: Thank you!|THANK YOU|Please come again|See you soon|Have a nice day
        |Returns within 14 days with receipt|Served with care|Keep this receipt
    salutation:: Dear customer,|Dear Sir or Madam,|To whom it may concern,|Hello,
    opening:: thank you for your order. We charge you as follows:|please find below the charges for our services.
        |we invoice you for the following:|for our deliveries we charge:
    service_line:: For our services|Services rendered|Work done|For the following work|Fees
    paid_stamp:: PAID|COPY|ORIGINAL|DUPLICATE|APPROVED|RECEIVED
    """,
)

GERMAN = _table(
    "de",
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    """
    invoice_title:: RECHNUNG|Rechnung|Rechnung|Faktura|Ausgangsrechnung|HONORARNOTE
    receipt_title:: QUITTUNG|Kassenbon|Beleg|BELEG|Rechnung|Kundenbeleg|KASSENBELEG
    statement_title:: KONTOAUSZUG|Kontoauszug|Auszug|Ihr Kontoauszug|Kontoübersicht
    vendor:: Von|Lieferant|Verkäufer|Absender|Aussteller|Firma|Rechnungssteller
    customer:: Kunde|Rechnung an|An|Rechnungsempfänger|Käufer|Empfänger|Rechnungsadresse|Auftraggeber
        |Rechnungsanschrift
    invoice_number:: Rechnungsnummer|Rechnungs-Nr.|Rechnung Nr.|Rechnungsnr.|Re.-Nr.|Belegnummer|Rechnung-Nr.|RG-Nr.
        |Nummer|Nr.|Beleg-Nr.
    receipt_number:: Bon-Nr.|Beleg-Nr.|Belegnummer|Beleg|Quittung Nr.|Bonnummer|Trans.-Nr.
    statement_number:: Auszug Nr.|Auszugsnummer|Auszug-Nr.|Blatt|Nummer
    order_number:: Bestellnummer|Auftrags-Nr.|Bestell-Nr.|Ihre Bestellung|Auftragsnummer|Ihr Zeichen|Lieferschein-Nr.
    customer_number:: Kundennummer|Kunden-Nr.|Kd.-Nr.|Ihre Kundennummer|Kundennr.
    date:: Datum|Rechnungsdatum|Ausstellungsdatum|Rechnung vom|Belegdatum|Rg.-Datum|Ausgestellt am
    receipt_date:: Datum|Verkauft am|Kaufdatum|Datum/Zeit
    statement_date:: Datum|Auszug vom|Erstellt am|Auszugsdatum|Stand
    delivery_date:: Lieferdatum|Leistungsdatum|Bestelldatum|Lieferung am|Versandt am|Bestellt am
    due_date:: Fällig am|Zahlbar bis|Fälligkeit|Fälligkeitsdatum|Zahlungsziel|Zu zahlen bis|Fällig|Bitte zahlen bis
    payment_terms:: Zahlungsbedingungen|Zahlung|Konditionen|Zahlungsweise
    terms_value:: 30 Tage netto|14 Tage netto|sofort ohne Abzug|10 Tage 2 % Skonto|60 Tage netto|8 Tage rein netto
        |zahlbar sofort
    currency:: Währung|Rechnungswährung
    currency_line:: Alle Beträge in *|Beträge in *|Alle Preise in *|Angaben in *
    period:: Zeitraum|Leistungszeitraum|Abrechnungszeitraum|Auszugszeitraum
    position:: Pos.|Pos|Nr.|#|Position
    sku:: Art.-Nr.|Artikelnr.|Artikel-Nr.|Best.-Nr.|Code
    description:: Bezeichnung|Beschreibung|Artikel|Leistung|Text|Produkt|Artikelbezeichnung|Warenbezeichnung|Tätigkeit
    quantity:: Menge|Anzahl|Anz.|Stück|Stk.|Stunden|Mge.
    unit:: Einheit|Einh.|ME|Eh.
    units:: Stk.|St|Std.|kg|m|l|Pkg.|Set|Karton|Tage
    unit_price:: Preis|Einzelpreis|E-Preis|Stückpreis|Preis/Einheit|EP|Einzel|Netto-Preis
    tax_rate:: MwSt.|USt.|MwSt. %|USt. %|Steuer %
    amount:: Betrag|Gesamt|Gesamtpreis|Summe|Netto|GP|Gesamt netto|Wert
    subtotal:: Zwischensumme|Nettobetrag|Summe netto|Netto|Gesamt netto|Nettosumme|Summe ohne MwSt.|Netto gesamt
    discount:: Rabatt|abzgl. Rabatt|Nachlass|Sonderrabatt|Skonto
    shipping:: Versand|Versandkosten|Porto|Lieferung|Fracht|Porto und Verpackung
    tax:: MwSt.|USt.|Mehrwertsteuer|Umsatzsteuer|zzgl. MwSt.|Steuer|Steuerbetrag
    tax_on:: * auf #|* von #
    tax_total:: MwSt. gesamt|Summe MwSt.|Steuer gesamt|USt. gesamt
    total:: Gesamtbetrag|Gesamt|Rechnungsbetrag|Endbetrag|Summe|Bruttobetrag|Zu zahlen|Gesamtsumme|Zahlbetrag
        |Gesamt brutto|Endsumme
    receipt_total:: Summe|SUMME|Gesamt|Total|Zu zahlen|Betrag|GESAMT|Summe EUR
    previous_balance:: Alter Saldo|Vorige Rechnung|Letzte Rechnung|Übertrag|Offen aus Vormonat
    payment_method:: Zahlung|Bezahlt mit|Zahlungsart|Zahlart|Bezahlung|Zahlweise
    given:: Gegeben|Erhalten|Bar gegeben
    change:: Rückgeld|Zurück|Wechselgeld
    tax_id:: USt-IdNr.|USt-ID|Steuernummer|St.-Nr.|UID|MwSt-Nr.
    phone:: Tel.|Telefon|Fon|Tel|Telefon-Nr.
    email:: E-Mail|Mail|Email
    iban:: IBAN|Konto|Bankverbindung|Unser Konto
    bic:: BIC|SWIFT|BIC/SWIFT
    account_number:: Kontonummer|Konto-Nr.|Konto|Kto.-Nr.
    account_holder:: Kontoinhaber|Inhaber|Kunde|Kontobezeichnung
    opening_balance:: Anfangssaldo|Alter Saldo|Alter Kontostand|Saldovortrag|Kontostand alt
    closing_balance:: Endsaldo|Neuer Saldo|Neuer Kontostand|Kontostand neu|Schlusssaldo
    total_in:: Summe Eingänge|Gutschriften|Summe Haben|Eingänge|Zahlungseingänge
    total_out:: Summe Ausgänge|Belastungen|Summe Soll|Ausgänge|Zahlungsausgänge
    booking_date:: Datum|Buchung|Buchungstag|Valuta|Bu.-Tag
    booking_text:: Buchungstext|Text|Verwendungszweck|Vorgang|Beschreibung
    reference:: Referenz|Ref.|Beleg|Beleg-Nr.
    booking_amount:: Betrag|Umsatz|Soll/Haben|Wert
    balance:: Saldo|Kontostand|Neuer Saldo
    bookings:: Kartenzahlung|Lastschrift|Dauerauftrag|Überweisung an|Überweisung von|Barabhebung|Gehalt|Erstattung
        |Kontogebühr|Zinsen|Miete|Versicherung|Einzahlung|Gutschrift|Rechnung
    till:: Kasse|Tisch|Filiale|Bediener|Markt
    page_of:: Seite # von *|# / *|Seite #/*|- # -
    continued:: Fortsetzung|Übertrag|weiter auf der nächsten Seite
    thanks:: Vielen Dank für Ihren Auftrag.|Wir danken für Ihr Vertrauen.|Bitte geben Sie die Rechnungsnummer an.
        |Die Ware bleibt bis zur Zahlung unser Eigentum.|Vielen Dank!|Zahlbar ohne Abzug.
        |Gerichtsstand ist der Sitz der Firma.|Diese Rechnung wurde maschinell erstellt.
    receipt_thanks:: Vielen Dank!|VIELEN DANK|Vielen Dank für Ihren Einkauf|Auf Wiedersehen|Umtausch nur mit Bon
        |Schönen Tag noch|Bis bald|Es bediente Sie Kasse 2
    salutation:: Sehr geehrte Damen und Herren,|Guten Tag,|Liebe Kundin, lieber Kunde,
    opening:: vielen Dank für Ihren Auftrag. Wir berechnen Ihnen:|für unsere Lieferung berechnen wir:
        |hiermit stellen wir Ihnen in Rechnung:|wir erlauben uns zu berechnen:
    service_line:: Für unsere Leistungen|Erbrachte Leistungen|Honorar|Für folgende Arbeiten
    paid_stamp:: BEZAHLT|KOPIE|ORIGINAL|DUPLIKAT|GEPRÜFT|ERLEDIGT
    """,
)

FRENCH = _table(
    "fr",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janv. févr. mars avril mai juin juil. août sept. oct. nov. déc.",
    """
    invoice_title:: FACTURE|Facture|Facture|Facture commerciale|NOTE D'HONORAIRES|Facture client
    receipt_title:: TICKET|Ticket de caisse|REÇU|Reçu|Ticket client|TICKET DE CAISSE
    statement_title:: RELEVÉ DE COMPTE|Relevé de compte|Relevé bancaire|Votre relevé|RELEVÉ
    vendor:: De|Vendeur|Fournisseur|Émetteur|Société|Prestataire|Émis par
    customer:: Client|Facturé à|Destinataire|Acheteur|Adressé à|À l'attention de|Adresse de facturation|Facture à
    invoice_number:: N° de facture|Facture n°|Numéro de facture|N° facture|Facture no|Réf. facture|Numéro|N°|Facture
        |N° de pièce
    receipt_number:: Ticket n°|N° ticket|Reçu n°|N° de reçu|Transaction|Ticket
    statement_number:: Relevé n°|N° de relevé|Numéro|Feuillet|Extrait n°
    order_number:: N° de commande|Commande n°|Votre commande|Bon de commande|Réf. commande|Votre réf.|Bon de livraison
    customer_number:: N° client|Code client|Numéro client|Client n°|Réf. client
    date:: Date|Date de facture|Date d'émission|Émise le|Facture du|Date de facturation|Le
    receipt_date:: Date|Date de vente|Vendu le|Date/heure
    statement_date:: Date|Date du relevé|Édité le|Arrêté au|Relevé du
    delivery_date:: Date de livraison|Livré le|Date de commande|Date de prestation|Expédié le
    due_date:: Échéance|Date d'échéance|À payer avant le|Payable avant le|Date limite de paiement|À régler avant le
        |Payable le|Échéance le
    payment_terms:: Conditions|Conditions de paiement|Modalités|Règlement
    terms_value:: 30 jours nets|à réception|30 jours fin de mois|comptant|45 jours|60 jours nets|à 15 jours
    currency:: Devise|Monnaie
    currency_line:: Montants en *|Tous les prix en *|Prix exprimés en *|Tous les montants en *
    period:: Période|Période de facturation|Période de service
    position:: N°|Pos.|#|Ligne
    sku:: Réf.|Référence|Code|Code article|Art.
    description:: Désignation|Description|Article|Libellé|Produit|Prestation|Détail|Nature
    quantity:: Qté|Quantité|Qté.|Nombre|Nb|Heures
    unit:: Unité|U.|Un.
    units:: pce|u|h|kg|m|l|boîte|lot|carton|jours
    unit_price:: Prix|Prix unitaire|P.U.|PU HT|Prix unit.|Prix HT|Tarif|P.U. HT
    tax_rate:: TVA|TVA %|Taux|Taux TVA
    amount:: Montant|Total|Total HT|Montant HT|Somme|Prix total|Net
    subtotal:: Sous-total|Total HT|Montant HT|Total hors taxes|Net HT|Sous-total HT|Montant net
    discount:: Remise|Rabais|Escompte|Remise commerciale|Ristourne
    shipping:: Livraison|Frais de port|Port|Transport|Frais d'envoi|Port et emballage
    tax:: TVA|Montant TVA|T.V.A.|Taxe|Taxes
    tax_on:: * sur #|* de #
    tax_total:: Total TVA|TVA totale|Total taxes
    total:: Total TTC|Total|Net à payer|Montant TTC|Montant total|À payer|Total à payer|Montant dû|TOTAL TTC
        |Total général
    receipt_total:: TOTAL|Total|Total TTC|A PAYER|À payer|Net à payer|Montant|Total à payer
    previous_balance:: Solde précédent|Facture précédente|Report|Ancien solde|Dernière facture
    payment_method:: Paiement|Payé par|Mode de paiement|Règlement|Moyen de paiement|Réglé par
    given:: Reçu|Donné|Espèces reçues
    change:: Rendu|Monnaie rendue|À rendre
    tax_id:: N° TVA|TVA intracom.|SIRET|N° de TVA|TVA|Id. TVA
    phone:: Tél.|Téléphone|Tél|Tel.
    email:: E-mail|Courriel|Mél|Email
    iban:: IBAN|Compte|Compte bancaire|Notre IBAN
    bic:: BIC|SWIFT|Code BIC
    account_number:: N° de compte|Compte n°|Compte|Numéro de compte
    account_holder:: Titulaire|Titulaire du compte|Client|Intitulé
    opening_balance:: Solde initial|Ancien solde|Solde précédent|Solde de départ|Report
    closing_balance:: Solde final|Nouveau solde|Solde au|Solde de clôture|Solde actuel
    total_in:: Total crédits|Total des crédits|Entrées|Total versements
    total_out:: Total débits|Total des débits|Sorties|Total retraits
    booking_date:: Date|Date op.|Date valeur|Opération du
    booking_text:: Libellé|Opération|Détail|Nature de l'opération|Description
    reference:: Référence|Réf.|N° pièce
    booking_amount:: Montant|Débit/crédit|Mouvement|Valeur
    balance:: Solde|Nouveau solde|Solde courant
    bookings:: Paiement carte|Prélèvement|Virement permanent|Virement à|Virement de|Retrait espèces|Salaire
        |Remboursement|Frais de compte|Intérêts|Loyer|Assurance|Dépôt|Chèque|Facture
    till:: Caisse|Table|Magasin|Terminal|Caissier
    page_of:: Page # sur *|# / *|Page #/*|- # -
    continued:: Suite|À reporter|suite page suivante
    thanks:: Merci de votre confiance.|Merci pour votre commande.|Merci !|En cas de retard, une pénalité sera due.
        |Merci d'indiquer le numéro de facture.|Marchandise non reprise.|Aucun escompte pour paiement anticipé.
        |Document fait par ordinateur.
    receipt_thanks:: Merci !|MERCI|Merci de votre visite|À bientôt|Échange sous 14 jours|Bonne journée|Au revoir
        |Gardez ce ticket
    salutation:: Madame, Monsieur,|Cher client,|Bonjour,
    opening:: veuillez trouver ci-dessous le détail de votre commande :|nous vous facturons ce qui suit :
        |merci de votre commande. Nous facturons :|pour nos prestations, nous vous demandons :
    service_line:: Pour nos prestations|Travaux effectués|Honoraires|Prestations réalisées
    paid_stamp:: PAYÉ|COPIE|ORIGINAL|DUPLICATA|REÇU|ACQUITTÉ
    """,
)

SPANISH = _table(
    "es",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene feb mar abr may jun jul ago sep oct nov dic",
    """
    invoice_title:: FACTURA|Factura|Factura|Factura comercial|Factura de venta|FACTURA DE VENTA
    receipt_title:: TICKET|Ticket|RECIBO|Recibo|Ticket de compra|Factura simplificada
    statement_title:: EXTRACTO DE CUENTA|Extracto de cuenta|Extracto bancario|Estado de cuenta|EXTRACTO
    vendor:: De|Vendedor|Proveedor|Emisor|Empresa|Emitida por
    customer:: Cliente|Facturar a|Facturado a|Destinatario|Comprador|Para|Dirección de facturación|Datos del cliente
    invoice_number:: Factura n.°|N.° de factura|Número de factura|Factura núm.|N° factura|Factura n°|Número|Factura
        |Núm.|N° de documento
    receipt_number:: Ticket n°|N° ticket|Recibo n°|N° de recibo|Operación|Núm. ticket
    statement_number:: Extracto n°|N° de extracto|Número|Hoja
    order_number:: N° de pedido|Pedido|Su pedido|Pedido n°|Orden de compra|Su referencia|Albarán n°
    customer_number:: N° de cliente|Cliente n°|Código cliente|Número de cliente|Cód. cliente
    date:: Fecha|Fecha de factura|Fecha de emisión|Fecha factura|Emitida el|Fecha de expedición
    receipt_date:: Fecha|Fecha de venta|Vendido el|Fecha/hora
    statement_date:: Fecha|Fecha del extracto|Emitido el|A fecha de
    delivery_date:: Fecha de entrega|Entregado el|Fecha de pedido|Fecha de servicio|Enviado el
    due_date:: Vencimiento|Fecha de vencimiento|Pagar antes del|Vence el|Fecha límite de pago|A pagar antes de
        |Fecha de pago|Vence
    payment_terms:: Condiciones|Condiciones de pago|Forma de pago|Plazo
    terms_value:: 30 días|al contado|a la recepción|60 días fecha factura|45 días|15 días|transferencia a 30 días
    currency:: Moneda|Divisa
    currency_line:: Importes en *|Todos los precios en *|Precios en *|Todos los importes en *
    period:: Periodo|Período de facturación|Periodo de servicio
    position:: N°|Pos.|#|Línea
    sku:: Ref.|Código|Referencia|Cód.|Art.
    description:: Descripción|Concepto|Artículo|Producto|Detalle|Servicio|Designación
    quantity:: Cant.|Cantidad|Uds.|Unidades|Ud.|Horas
    unit:: Unidad|U.M.|Un.
    units:: ud|uds|h|kg|m|l|caja|juego|lote|días
    unit_price:: Precio|Precio unitario|P. unitario|Precio ud.|P.U.|Tarifa|Precio unit.
    tax_rate:: IVA|IVA %|% IVA|Tipo
    amount:: Importe|Total|Importe total|Suma|Neto|Valor|Total línea
    subtotal:: Subtotal|Base imponible|Importe neto|Total neto|Suma|Base|Total sin IVA
    discount:: Descuento|Dto.|Rebaja|Descuento comercial|Bonificación
    shipping:: Envío|Portes|Gastos de envío|Transporte|Entrega
    tax:: IVA|Cuota IVA|I.V.A.|Impuesto|Impuestos|Importe IVA
    tax_on:: * sobre #|* de #
    tax_total:: Total IVA|IVA total|Total impuestos
    total:: Total|Total factura|Total a pagar|Importe total|A pagar|TOTAL|Total con IVA|Importe a pagar
        |Líquido a pagar
    receipt_total:: TOTAL|Total|A pagar|Total a pagar|Importe|Total EUR|Suma
    previous_balance:: Saldo anterior|Factura anterior|Última factura|Saldo pendiente anterior
    payment_method:: Pago|Pagado con|Método de pago|Medio de pago|Forma de pago|Abonado con
    given:: Entregado|Recibido|Efectivo
    change:: Cambio|Vuelta|Su cambio
    tax_id:: NIF|CIF|NIF/CIF|N.I.F.|RFC|IVA n°
    phone:: Tel.|Teléfono|Tfno.|Tel
    email:: E-mail|Correo|Email
    iban:: IBAN|Cuenta|Cuenta bancaria|Nuestra cuenta
    bic:: BIC|SWIFT|BIC/SWIFT
    account_number:: N° de cuenta|Cuenta n°|Cuenta|Número de cuenta
    account_holder:: Titular|Titular de la cuenta|Cliente|Nombre
    opening_balance:: Saldo inicial|Saldo anterior|Saldo de apertura|Saldo al inicio
    closing_balance:: Saldo final|Nuevo saldo|Saldo de cierre|Saldo actual|Saldo al final
    total_in:: Total ingresos|Total abonos|Ingresos|Total haber
    total_out:: Total gastos|Total cargos|Cargos|Total debe
    booking_date:: Fecha|Fecha op.|F. valor|Fecha operación
    booking_text:: Concepto|Operación|Detalle|Movimiento|Descripción
    reference:: Referencia|Ref.|N° doc.
    booking_amount:: Importe|Debe/haber|Movimiento|Valor
    balance:: Saldo|Nuevo saldo|Saldo actual
    bookings:: Pago con tarjeta|Recibo|Transferencia a|Transferencia de|Retirada efectivo|Nómina|Devolución|Comisión
        |Intereses|Alquiler|Seguro|Ingreso|Cheque|Factura|Adeudo
    till:: Caja|Mesa|Tienda|Terminal|Cajero
    page_of:: Página # de *|# / *|Pág. #/*|- # -
    continued:: Continúa|Suma y sigue|sigue en la página siguiente
    thanks:: Gracias por su confianza.|Gracias por su compra.|¡Gracias!|Indique el número de factura en el pago.
        |La mercancía es nuestra hasta su pago.|Factura hecha por ordenador.|No se admiten devoluciones.
    receipt_thanks:: ¡Gracias!|GRACIAS|Gracias por su visita|Vuelva pronto|Cambios en 14 días con ticket|Buen día
        |Hasta pronto|Conserve su ticket
    salutation:: Estimado cliente:|Muy señores nuestros:|Buenos días:
    opening:: gracias por su pedido. Le facturamos lo siguiente:|le detallamos los servicios prestados:
        |por nuestros servicios le facturamos:
    service_line:: Por nuestros servicios|Trabajos realizados|Honorarios|Servicios prestados
    paid_stamp:: PAGADO|COPIA|ORIGINAL|DUPLICADO|RECIBIDO|CONFORME
    """,
)

ITALIAN = _table(
    "it",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "gen feb mar apr mag giu lug ago set ott nov dic",
    """
    invoice_title:: FATTURA|Fattura|Fattura|Fattura commerciale|Fattura di vendita|PARCELLA
    receipt_title:: SCONTRINO|Scontrino|RICEVUTA|Ricevuta|Documento commerciale|Ricevuta fiscale
    statement_title:: ESTRATTO CONTO|Estratto conto|Estratto conto bancario|Movimenti del conto|Lista movimenti
    vendor:: Da|Venditore|Fornitore|Emittente|Azienda|Emessa da|Mittente
    customer:: Cliente|Fatturato a|Intestata a|Destinatario|Acquirente|Spett.le|Indirizzo di fatturazione|A
    invoice_number:: Fattura n.|Numero fattura|N. fattura|Nr. fattura|Fattura nr.|Numero documento|Numero|N.|Fattura
    receipt_number:: Scontrino n.|N. scontrino|Ricevuta n.|Documento n.|Transazione|Nr. ricevuta
    statement_number:: Estratto n.|N. estratto|Numero|Foglio
    order_number:: Ordine n.|N. ordine|Vostro ordine|Numero ordine|Rif. ordine|DDT n.|Vs. riferimento
    customer_number:: Codice cliente|N. cliente|Cod. cliente|Cliente n.|Numero cliente
    date:: Data|Data fattura|Data di emissione|Emessa il|Fattura del|Data documento|Data emissione
    receipt_date:: Data|Data vendita|Venduto il|Data/ora
    statement_date:: Data|Data estratto|Emesso il|Situazione al
    delivery_date:: Data di consegna|Consegnato il|Data ordine|Data prestazione|Spedito il
    due_date:: Scadenza|Data di scadenza|Scade il|Pagare entro|Da pagare entro il|Scadenza pagamento
        |Pagamento entro il
    payment_terms:: Condizioni|Condizioni di pagamento|Pagamento|Termini
    terms_value:: 30 giorni|a vista|rimessa diretta|60 giorni fine mese|30 giorni data fattura|bonifico a 15 giorni
    currency:: Valuta|Divisa
    currency_line:: Importi in *|Tutti i prezzi in *|Prezzi in *|Valori in *
    period:: Periodo|Periodo di fatturazione|Periodo di riferimento
    position:: N.|Pos.|#|Riga
    sku:: Cod.|Codice|Cod. art.|Rif.|Art.
    description:: Descrizione|Articolo|Prodotto|Voce|Dettaglio|Servizio|Prestazione
    quantity:: Q.tà|Quantità|Qtà|Pezzi|N. pezzi|Ore
    unit:: Unità|U.M.|UM
    units:: pz|nr|h|kg|m|l|conf.|set|scatola|giorni
    unit_price:: Prezzo|Prezzo unitario|P. unitario|Prezzo unit.|Tariffa|Costo unitario
    tax_rate:: IVA|IVA %|Aliquota|% IVA
    amount:: Importo|Totale|Somma|Valore|Netto|Prezzo totale|Totale riga
    subtotal:: Subtotale|Imponibile|Totale netto|Importo netto|Totale imponibile|Netto|Totale senza IVA
    discount:: Sconto|Sconto commerciale|Abbuono|Riduzione
    shipping:: Spedizione|Trasporto|Spese di spedizione|Consegna|Spese di trasporto
    tax:: IVA|Imposta|Importo IVA|I.V.A.|Totale imposta
    tax_on:: * su #|* di #
    tax_total:: Totale IVA|IVA totale|Totale imposte
    total:: Totale|Totale fattura|Totale da pagare|Importo totale|Da pagare|TOTALE|Totale documento|Netto a pagare
        |Totale IVA inclusa
    receipt_total:: TOTALE|Totale|Da pagare|Importo|Totale complessivo|Totale EUR|TOTALE EURO
    previous_balance:: Saldo precedente|Fattura precedente|Ultima fattura|Riporto
    payment_method:: Pagamento|Pagato con|Metodo di pagamento|Modalità di pagamento|Mezzo di pagamento
    given:: Ricevuto|Contante|Consegnato
    change:: Resto|Il suo resto
    tax_id:: P. IVA|Partita IVA|P.IVA|C.F.|Cod. fiscale
    phone:: Tel.|Telefono|Tel
    email:: E-mail|Email|Posta
    iban:: IBAN|Conto|Conto corrente|Coordinate
    bic:: BIC|SWIFT|BIC/SWIFT
    account_number:: Conto n.|Numero conto|Conto|N. conto
    account_holder:: Intestatario|Intestato a|Cliente|Titolare
    opening_balance:: Saldo iniziale|Saldo precedente|Saldo di apertura|Saldo inizio periodo
    closing_balance:: Saldo finale|Nuovo saldo|Saldo di chiusura|Saldo attuale
    total_in:: Totale entrate|Totale accrediti|Entrate|Totale avere
    total_out:: Totale uscite|Totale addebiti|Uscite|Totale dare
    booking_date:: Data|Data op.|Valuta|Data operazione
    booking_text:: Descrizione|Operazione|Causale|Dettaglio|Movimento
    reference:: Riferimento|Rif.|N. doc.
    booking_amount:: Importo|Dare/avere|Movimento|Valore
    balance:: Saldo|Nuovo saldo|Saldo attuale
    bookings:: Pagamento carta|Addebito diretto|Bonifico a|Bonifico da|Prelievo contante|Stipendio|Rimborso
        |Canone conto|Interessi|Affitto|Assicurazione|Versamento|Assegno|Fattura|Utenza
    till:: Cassa|Tavolo|Negozio|Terminale|Operatore
    page_of:: Pagina # di *|# / *|Pag. #/*|- # -
    continued:: Segue|A riportare|segue alla pagina successiva
    thanks:: Grazie per la fiducia.|Grazie per il vostro ordine.|Grazie!
        |Indicare il numero di fattura nel pagamento.|La merce resta nostra fino al pagamento.
        |Documento prodotto da computer.|Operazione soggetta a IVA.
    receipt_thanks:: Grazie!|GRAZIE|Grazie e arrivederci|A presto|Cambio merce entro 14 giorni|Buona giornata
        |Arrivederci|Conservare lo scontrino
    salutation:: Gentile cliente,|Spett.le ditta,|Buongiorno,
    opening:: grazie per il vostro ordine. Fatturiamo quanto segue:|di seguito il dettaglio delle prestazioni:
        |per i nostri servizi addebitiamo:
    service_line:: Per i nostri servizi|Lavori svolti|Onorario|Prestazioni svolte
    paid_stamp:: PAGATO|COPIA|ORIGINALE|DUPLICATO|RICEVUTO|SALDATO
    """,
)

DUTCH = _table(
    "nl",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "jan feb mrt apr mei jun jul aug sep okt nov dec",
    """
    invoice_title:: FACTUUR|Factuur|Factuur|Verkoopfactuur|REKENING|Nota
    receipt_title:: KASSABON|Kassabon|BON|Bon|Kwitantie|Klantbon
    statement_title:: REKENINGOVERZICHT|Rekeningoverzicht|Rekeningafschrift|Afschrift|Uw overzicht
    vendor:: Van|Verkoper|Leverancier|Afzender|Bedrijf|Opgesteld door
    customer:: Klant|Factuur aan|Aan|Gefactureerd aan|Koper|Debiteur|Factuuradres|Geadresseerde
    invoice_number:: Factuurnummer|Factuurnr.|Factuur nr.|Factuur|Nummer|Nr.|Factuur-nr.|Documentnummer
    receipt_number:: Bonnummer|Bonnr.|Bon nr.|Kassabon nr.|Transactie|Bon
    statement_number:: Afschrift nr.|Afschriftnummer|Volgnummer|Nummer|Blad
    order_number:: Ordernummer|Ordernr.|Uw bestelling|Bestelnummer|Uw referentie|Inkooporder|Pakbonnr.
    customer_number:: Klantnummer|Klantnr.|Uw klantnummer|Debiteurnr.|Klantcode
    date:: Datum|Factuurdatum|Datum factuur|Datum van uitgifte|Opgemaakt op
    receipt_date:: Datum|Verkoopdatum|Verkocht op|Datum/tijd
    statement_date:: Datum|Datum afschrift|Opgemaakt op|Stand per
    delivery_date:: Leverdatum|Geleverd op|Besteldatum|Datum levering|Verzonden op
    due_date:: Vervaldatum|Te betalen voor|Betalen voor|Uiterste betaaldatum|Vervalt op|Betaaldatum
        |Uiterlijk te voldoen op
    payment_terms:: Betalingstermijn|Betaling|Voorwaarden|Betaalconditie
    terms_value:: 30 dagen netto|14 dagen|direct te voldoen|8 dagen|60 dagen netto|binnen 21 dagen
    currency:: Valuta|Munt
    currency_line:: Alle bedragen in *|Bedragen in *|Prijzen in *|Alle prijzen in *
    period:: Periode|Factuurperiode|Dienstperiode
    position:: Nr.|Pos.|#|Regel
    sku:: Art.nr.|Artikelnr.|Code|Art.|Artikelcode
    description:: Omschrijving|Beschrijving|Artikel|Product|Dienst|Details|Werkzaamheden
    quantity:: Aantal|Hoeveelheid|Stuks|Aant.|Uren
    unit:: Eenheid|Eenh.|Per
    units:: st|stuks|uur|kg|m|l|doos|set|pak|dagen
    unit_price:: Prijs|Stuksprijs|Prijs per stuk|Eenheidsprijs|Tarief|Prijs p/st
    tax_rate:: BTW|BTW %|Btw-tarief|% BTW
    amount:: Bedrag|Totaal|Totaalprijs|Som|Netto|Regeltotaal|Waarde
    subtotal:: Subtotaal|Netto bedrag|Totaal excl. btw|Netto|Bedrag excl. btw|Totaal netto
    discount:: Korting|Rabat|Klantkorting|Actiekorting
    shipping:: Verzending|Verzendkosten|Bezorging|Porto|Vracht|Transport
    tax:: BTW|Btw|Btw-bedrag|Belasting|BTW bedrag
    tax_on:: * over #|* van #
    tax_total:: Totaal btw|BTW totaal|Totaal belasting
    total:: Totaal|Te betalen|Totaalbedrag|Totaal incl. btw|Factuurbedrag|Eindtotaal|TOTAAL|Te voldoen
        |Totaal te betalen
    receipt_total:: TOTAAL|Totaal|Te betalen|Bedrag|Totaal EUR|Som|TE BETALEN
    previous_balance:: Vorig saldo|Vorige factuur|Openstaand saldo|Laatste factuur
    payment_method:: Betaling|Betaald met|Betaalwijze|Betaalmethode|Voldaan per
    given:: Ontvangen|Gegeven|Contant ontvangen
    change:: Wisselgeld|Terug|Retour
    tax_id:: BTW-nr.|Btw-nummer|BTW nr.|KvK|BTW-id
    phone:: Tel.|Telefoon|Tel
    email:: E-mail|Email|Mail
    iban:: IBAN|Rekening|Rekeningnummer|Ons IBAN
    bic:: BIC|SWIFT|BIC/SWIFT
    account_number:: Rekeningnummer|Rekening|Rekeningnr.|Rek.nr.
    account_holder:: Rekeninghouder|Ten name van|Houder|Klant
    opening_balance:: Beginsaldo|Vorig saldo|Oud saldo|Saldo begin
    closing_balance:: Eindsaldo|Nieuw saldo|Saldo einde|Huidig saldo
    total_in:: Totaal bij|Totaal ontvangen|Bijgeschreven|Inkomsten
    total_out:: Totaal af|Totaal betaald|Afgeschreven|Uitgaven
    booking_date:: Datum|Boekdatum|Rentedatum|Boeking
    booking_text:: Omschrijving|Mededeling|Transactie|Details|Naam/omschrijving
    reference:: Referentie|Ref.|Kenmerk
    booking_amount:: Bedrag|Af/bij|Mutatie|Waarde
    balance:: Saldo|Nieuw saldo|Stand
    bookings:: Pinbetaling|Incasso|Periodieke overboeking|Overboeking naar|Overboeking van|Geldopname|Salaris
        |Terugbetaling|Kosten rekening|Rente|Huur|Verzekering|Storting|Factuur|Abonnement
    till:: Kassa|Tafel|Winkel|Filiaal|Medewerker
    page_of:: Pagina # van *|# / *|Blad #/*|- # -
    continued:: Vervolg|Transporteren|zie volgende pagina
    thanks:: Bedankt voor uw opdracht.|Dank voor het vertrouwen.|Vermeld het factuurnummer bij betaling.|Bedankt!
        |Goederen blijven ons eigendom tot betaling.|Deze factuur is digitaal gemaakt.|Reclames binnen 8 dagen.
    receipt_thanks:: Bedankt!|DANK U WEL|Bedankt voor uw bezoek|Tot ziens|Ruilen binnen 14 dagen met bon|Fijne dag
        |Graag tot de volgende keer|Bewaar deze bon
    salutation:: Geachte klant,|Geachte heer, mevrouw,|Beste klant,
    opening:: bedankt voor uw bestelling. Wij brengen in rekening:|hierbij de kosten voor onze diensten:
        |voor geleverde goederen rekenen wij:
    service_line:: Voor onze diensten|Uitgevoerd werk|Honorarium|Geleverde diensten
    paid_stamp:: BETAALD|KOPIE|ORIGINEEL|DUPLICAAT|ONTVANGEN|AKKOORD
    """,
)

LANGUAGES: dict[str, Wordings] = {table.language: table for table in (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, DUTCH)}
