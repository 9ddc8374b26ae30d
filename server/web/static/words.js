// 512 words that are short, known and hard to mistake. Each has 9 bits of entropy.
export const words = `
able acid acorn actor adobe agent alarm album alley amber anchor angle ankle apron arch arrow aspen
atlas attic audio autumn bacon badge bagel baker balm bamboo banjo barn basin beach beam bean bear
beard bell belt bench berry birch blade bloom blouse board boat bone bonus book boot border bottle
bowl brave bread brick bridge brook broom brush bucket bulb butter button cabin cable cactus cake
camel camera camp canal candle canoe canvas canyon cape carbon card cargo carpet carrot castle cedar
cello chain chair chalk cheek cheese cherry chess chest chief cider cinema circle city clerk cliff
clock cloud clover coach coast cobra cocoa coffee coin comet comic copper coral corn cosmos cotton
cousin crab crane crayon cream creek crew crisp crown cube cup curry dairy daisy dance dawn deer
delta denim desk diary dice dinner dome donkey door dove dragon drama dream drum dune eagle early
earth easel east echo edge elbow elk ember engine envoy epic equal exit fable fabric falcon family
farm feast fence fern ferry field fig film finch fire fish flag flame flask fleet flint flock flour
foam fog folder forest fork fossil fox frame frog frost fruit galaxy garden garlic gate gem ghost
giant ginger glass globe glove goat gold goose grape grass gravel green grove guitar gull habit
hammer harp hat hawk heart hedge helmet hero hinge hockey honey hood horn horse hotel house husky
ice icon inch index iris iron island ivory ivy jacket jade jaguar jam jar jelly jewel juice jungle
junior kayak kelp kettle kiosk kite kitten kiwi knee koala lace ladder lake lamb lamp lava lawn leaf
lemon lens level lilac lily lime linen lion lizard llama lobby locket logic lotus lunar lunch lynx
magnet maize mango maple marble market mask meadow medal melon metal milk mill mint mirror mitten
model moon moose motor mouse museum music napkin narrow nature navy needle nest nickel noble noodle
north novel nutmeg oak oasis oat ocean olive onion opal opera orange orbit orchid otter oval oven
owl oxygen oyster paddle page paint palace panda panel paper park parrot pasta path peach pear
pebble pencil pepper photo picnic pigeon pillow pilot pine pirate pizza plain plaza plum poem polar
pond pony poppy potato puddle puffin puppet purple puzzle quail quartz quest quilt quiz rabbit radio
raisin ranch raven recipe reed reef ribbon ring river robin robot rocket roof rope rose ruby rug
saddle sail salad salmon salt sand satin sauce scarf school scout seal seed shelf shell ship shoe
shore silk silver skate ski sled sleeve snail snow soap sofa solar sonnet soup spark spice spider
spoon spring spruce stable stamp star steam steel stone stork straw stream studio sugar summit sun
swan table tango taxi tempo tennis tent thread thyme tiger timber toast tomato tower toy trail train
trout tulip tuna tundra tunnel turtle tweed twig uncle union urban valley vase velvet vest video
villa vine violet violin vision wagon walnut walrus waltz water wave wheat wheel willow wind window
winter wolf wood wool yacht yeast yellow yoga zebra zenith zinc zone
`.trim().split(/\s+/)
