package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class ChatImagesTest {

  private static final int MANY = 200;

  @Test
  void anotherDecoderReadsThem() throws Exception {
    Set<String> types = new TreeSet<>();
    for (String url : new ChatImages(5).next(5, MANY)) {
      String type = url.substring("data:image/".length(), url.indexOf(';'));
      types.add(type);
      if (!type.equals("webp")) { // which the JDK does not read
        byte[] file = Base64.getDecoder().decode(url.substring(url.indexOf(',') + 1));
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(file));
        assertThat(image).as(type).isNotNull();
        assertThat(image.getWidth()).isBetween(20, 900);
        assertThat(image.getHeight()).isBetween(20, 900);
      }
    }
    assertThat(types).containsExactly("bmp", "gif", "jpeg", "png", "webp");
  }

  @Test
  void someAreSharedAndTheSeedDecides() {
    List<String> one = ChatImages.ofUser(1, 7).next(1, MANY);
    Set<String> other = new TreeSet<>(ChatImages.ofUser(1, 8).next(1, MANY));
    Set<String> otherSeed = new TreeSet<>(ChatImages.ofUser(2, 7).next(2, MANY));

    assertThat(ChatImages.ofUser(1, 7).next(1, MANY).equals(one)).isTrue();
    assertThat(Collections.disjoint(one, otherSeed)).isTrue();
    other.retainAll(one);
    assertThat(other.size()).isEqualTo(6);
    assertThat(Set.copyOf(one).size()).isBetween(MANY / 2 - 30, MANY / 2 + 40);
  }
}
