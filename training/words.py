"""Words that made-up documents are built from: syllables, goods, services and streets."""


def _words(text: str, separator: str | None = None) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(separator))


ONSETS = _words("b c d f g h j k l m n p r s t v w z br ch cl cr dr fl fr gl gr kl kr pl pr qu sh sk sl sp st th tr")
VOWELS = _words("a e i o u a e i o u y ai au ea ee ei ia io oa oo ou")
CODAS = ("", "", "", *_words("n r s t l m x d k ck nd ng rt ll th rn sk"))
COMPANY_SUFFIXES = _words(
    """Ltd, Inc, Inc., GmbH, LLC, Co., SA, AG, BV, Group, Corp, plc, AB, Oy, KG, Trading, Services,
    Supplies, Partners, & Sons, Systems, Works, Labs, Logistics, Foods, Tools, Studio, Media,
    Design, Textiles, Metals, Optics, Holdings""",
    ",",
)
SHOP_SUFFIXES = _words(
    "Market Cafe Bakery Store Shop Deli Foods Books Pharmacy Bistro Kitchen Garage Mart Outlet Corner Express"
)
ADJECTIVES = _words(
    """Blue Red Green Black White Grey Yellow Small Large Heavy Light Long Short Round Flat Soft Hard
    Steel Wooden Copper Glass Cotton Paper Plastic Rubber Leather Digital Portable Wireless Premium
    Basic Standard Deluxe Mini Double Single Spare Quick Folding Adjustable Outdoor Indoor Annual
    Monthly Weekly Remote On-site"""
)
GOODS = _words(
    """cable paper desk lamp chair pen box filter valve panel screw bolt nut washer mouse keyboard
    monitor toner battery brush glove mask tape glue hose pump motor switch sensor adapter charger
    stand shelf cabinet folder binder stapler marker notebook envelope bracket hinge ladder bucket
    drill saw blade hammer wrench socket fuse relay router cart crate pallet label ribbon bottle jar
    tray basket rope chain spring gasket bearing pipe tube sheet board tile"""
)
SERVICES = _words(
    """service repair design hosting support training licence consulting delivery installation
    inspection cleaning maintenance printing translation storage transport assembly calibration
    survey workshop set-up testing"""
)
FOODS = _words(
    """Coffee, Tea, Sugar, Milk, Bread, Butter, Cheese, Juice, Water, Eggs, Flour, Rice, Pasta, Tomatoes,
    Onions, Bananas, Apples, Yoghurt, Honey, Jam, Salad, Soup, Lemonade, Crackers, Nuts, Olive oil, Ketchup,
    Oats, Beans, Lentils, Pears, Carrots, Potatoes, Cocoa, Vinegar, Cream""",
    ",",
)
SHOP_GOODS = _words(
    """Sandwich, Muffin, Croissant, Cookie, Espresso, Latte, Cappuccino, Bagel, Soap, Towel, Shampoo,
    Batteries, Napkins, Candle, Pencil, Magazine, Umbrella, Socks, Gloves, Plant pot, Toothpaste,
    Greeting card, Light bulb, Sponge, Matches, Water bottle, Key ring, Lunch menu, Postcard, Gift wrap""",
    ",",
)
FOOD_SIZES = _words("1 kg,2 kg,500 g,250 g,750 g,250 ml,500 ml,1 l,6-pack,large,small", ",")
SIZES = _words("2 m,5 m,10 m,A4,A5,XL,M,S,12 V,230 V,40 W,8 mm,30 cm,25 kg,x10,x100,type B,no. 7", ",")
STREETS = _words("Street Road Lane Avenue Square Way Hill Park Court Row")
MONTHS = _words("January February March April May June July August September October November December")
