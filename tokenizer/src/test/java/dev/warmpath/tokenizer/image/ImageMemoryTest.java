package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.ImageForm;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ImageMemoryTest {

  private static final List<ImageForm> FORMS = ImageForm.all("/m");

  private final MadeImages images = new MadeImages(new SplittableRandom(4));

  private byte[] file() {
    MadeImages.Made made = images.next();
    return made.header() == null ? file() : made.file();
  }

  private static String url(byte[] file) {
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(file);
  }

  @Test
  void anImageIsNamedByTheBytesOfItsFile() {
    ImageMemory memory = new ImageMemory(1 << 20, 1);
    for (int i = 0; i < 500; i++) {
      byte[] file = file();
      ImageMemory.Facts facts = memory.of(url(file), FORMS.subList(0, 1));
      ImageHeader header = ImageHeader.read(file);
      assertThat(facts.header()).isNotNull().isEqualTo(header);
      assertThat(facts.identifiers().get(FORMS.get(0)))
          .isEqualTo(ImageHasher.identifier(FORMS.get(0), file, facts.header().rgb()));
    }
  }

  @Test
  void formsThatAreAskedForLaterAreAdded() {
    ImageMemory memory = new ImageMemory(1 << 20, 1);
    String url = url(file());
    ImageMemory.Facts one = memory.of(url, FORMS.subList(0, 1));
    ImageMemory.Facts all = memory.of(url, FORMS);
    assertThat(all.identifiers()).containsAllEntriesOf(one.identifiers()).hasSize(FORMS.size());
    assertThat(memory.of(new String(url), FORMS.subList(1, 2))).as("from memory").isSameAs(all);
  }

  @Test
  void theMemoryIsBounded() {
    ImageMemory memory = new ImageMemory(20_000, 1);
    for (int i = 0; i < 300; i++) {
      memory.of(url(file()), FORMS);
      assertThat(memory.counts().bytes()).isBetween(1L, 20_000L);
    }
    assertThat(memory.counts().evictions()).isGreaterThan(200);
    memory.resize(0);
    assertThat(memory.counts().bytes()).isZero();
    assertThat(memory.of(url(file()), FORMS).identifiers()).as("still known").isNotEmpty();
    assertThat(memory.counts().bytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data:",
        "data:image/png;base64,",
        "data:image/png,AAAA",
        "data:image/png;base64,AAA",
        "data:image/png;base64,AA*A",
        "data:image/png;base64,AAAA AAA",
        "data:image/png;base64,A===",
        "data:image/png;base64,\u00e4\u20acAA",
        "data:image/png;base64,AAAA"
      })
  void whatIsNoImageHasNoHeader(String url) {
    assertThat(new ImageMemory(1 << 20, 1).of(url, FORMS))
        .isEqualTo(new ImageMemory.Facts(null, java.util.Map.of()));
  }

  @Test
  void longUrlsAreDecodedInPieces() {
    SplittableRandom random = new SplittableRandom(5);
    for (int length : new int[] {1, 2, 3, 49_151, 49_152, 49_153, 300_000}) {
      byte[] file = new byte[length];
      random.nextBytes(file);
      assertThat(DataUrl.bytes(url(file))).isEqualTo(file);
    }
  }
}
